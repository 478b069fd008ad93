"""BLAS has one thread inside a verb, and its own number outside."""

from __future__ import annotations

import pytest

from dynid.core.threads import VARIABLES, one_blas_thread, with_one_blas_thread

threadpoolctl = pytest.importorskip("threadpoolctl")


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def _free_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_one_thread_inside_and_the_old_number_outside() -> None:
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with one_blas_thread():
            assert set(blas_threads()) == {1}
            with one_blas_thread():
                assert set(blas_threads()) == {1}
            assert set(blas_threads()) == {1}
        assert blas_threads() == before


def test_a_verb_keeps_its_answer_and_gives_the_threads_back_after_an_error() -> None:
    @with_one_blas_thread
    def verb(x: int) -> list[int]:
        if x < 0:
            raise ValueError(x)
        return blas_threads()

    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        assert set(verb(1)) == {1}
        with pytest.raises(ValueError, match="-1"):
            verb(-1)
        assert blas_threads() == before
