"""Where recordings are shown: one module or package for each way, and what they share.

Only `compat` imports a host; what stands below finds one by name when it is called.
"""
