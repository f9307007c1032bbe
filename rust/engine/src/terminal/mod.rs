//! A program in a pseudo-terminal: its screen and its clock.
