/** The part of pino's logger that the server uses, and a way past it for the line of each review. */
export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** Like `info`, with the fields as the members of a JSON object: `"uid":"1","path":"/mutate"`. */
  infoText(fields: string, message: string): void;
  isLevelEnabled(level: string): boolean;
}
