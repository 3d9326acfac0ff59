type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';

/** Adds color codes to a text, or returns it unchanged. */
export type Paint = (style: Style | readonly Style[], text: string) => string;

export const plain: Paint = (_, text) => text;
