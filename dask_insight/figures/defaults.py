"""What pictures are where nobody says otherwise; without NumPy, for the command line's help."""

#: Several panels on one time axis, as the first window of a report shows them.
OVERVIEW = "overview"
#: Pixels.
WIDTH = 1200.0
#: Pixels of a PNG in one of the picture's.
SCALE = 2.0
