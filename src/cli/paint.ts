import { styleText } from 'node:util'

type Style = 'bold' | 'dim' | 'green' | 'cyan' | 'yellow'

/** Colours text for a terminal; as it is where the output goes to a file or a pipe. */
export function paint(style: Style, text: string): string {
  return process.stdout.isTTY ? styleText(style, text) : text
}
