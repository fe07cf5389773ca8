"""Where recordings are shown: one module or package for each way. Nothing else imports a host."""
