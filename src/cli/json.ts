/** Option of every command that prints data. */
export const JSON_OPTION = ['--json', 'as JSON'] as const

export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2))
}
