/** The option that every command with data to print has. */
export const JSON_OPTION = ['--json', 'as JSON'] as const

export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2))
}
