"""Which parameters can be seen: base parameters by QR and by closed-form rules."""
