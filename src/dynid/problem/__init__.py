"""The linear problem: observation matrices of logs, streamed into triangular factors."""
