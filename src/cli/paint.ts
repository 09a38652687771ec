import { styleText } from 'node:util'

type Style = 'bold' | 'dim' | 'green' | 'cyan' | 'yellow'

/** Colours text on a terminal; plain text for a file or pipe. */
export function paint(style: Style, text: string): string {
  return process.stdout.isTTY ? styleText(style, text) : text
}
