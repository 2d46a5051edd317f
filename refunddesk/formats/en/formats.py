"""The admin's dates in the desk's form, so that the two can be laid beside each other."""

DATE_FORMAT = "M j, Y"
DATETIME_FORMAT = "M j, Y, H:i"
TIME_FORMAT = "H:i"
