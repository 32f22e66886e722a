// A program that does nothing: how long it takes to start is what the runtime takes.
export {};
