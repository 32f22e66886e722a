// A program that does nothing: its start takes as long as the start of the runtime.
