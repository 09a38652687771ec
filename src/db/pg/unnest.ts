/** Columns of a statement that writes many items at once, each with its type and an item's value. */
export type Columns<Item> = readonly (readonly [column: string, type: string, of: (item: Item) => unknown])[]

/** Parts of such a statement's text, whose parameters from `first` on are arrays of the columns' values. */
export function unnestOf<Item>(columns: Columns<Item>, first: number) {
  return {
    names: columns.map(([column]) => column).join(', '),
    rows: `unnest(${columns.map(([, type], i) => `$${first + i}::${type}[]`).join(', ')})`,
    /** Assignments for `SET`, from the row that has the new values. */
    set: (row: string) => columns.map(([column]) => `${column} = ${row}.${column}`).join(', '),
    values: (items: readonly Item[]) => columns.map(([, , of]) => items.map(of)),
  }
}
