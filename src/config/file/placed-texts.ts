import type { Position } from './config-file.ts';

/** Faults or warnings, each once. */
export interface PlacedTexts {
  /** @param position the place in the file that the text is about, if it is about one */
  readonly add: (text: string, position?: Position) => void;
  /** In the order of the file, after those that are about no place in it. */
  readonly inOrder: () => readonly string[];
}

const nowhere: Position = { line: 0, column: 0 };

export function placedTexts(): PlacedTexts {
  const places = new Map<string, Position>();
  return {
    add(text, position = nowhere) {
      if (!places.has(text)) places.set(text, position);
    },
    inOrder: () =>
      [...places]
        .sort(([, a], [, b]) => a.line - b.line || a.column - b.column)
        .map(([text]) => text),
  };
}
