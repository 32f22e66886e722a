/** A port to open. */
export interface Port {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
}
