/**
 * DOM helpers in place of a framework: `h` builds elements (text is never parsed as markup) and `redraw` replaces a
 * section. They stay until the explorer is added: five sections need no more, and a library would need a bundler.
 */

type Child = Node | string | null | undefined | false
type Attributes = Record<string, string | boolean | undefined>

/** Creates an element with attributes (`true` for an empty one, `false` or undefined for none) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  ...parts: (Attributes | Child)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag)
  for (const part of parts) {
    if (part instanceof Node || typeof part === 'string') element.append(part)
    else
      for (const [name, value] of Object.entries(part || {}))
        if (value === true || typeof value === 'string') element.setAttribute(name, value === true ? '' : value)
  }
  return element
}

/** Input under its label, with a hint below it. */
export const field = (label: string, input: HTMLElement, hint?: HTMLElement): HTMLElement =>
  h('label', h('span', label), input, hint)

/** The page's element with this id. @throws Error where there is none */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id)
  if (!element) throw new Error(`the page has no #${id}`)
  return element
}

type Field = HTMLInputElement | HTMLSelectElement
const keyed = <T extends Element>(section: Element, tag = ''): T[] => [
  ...section.querySelectorAll<T>(`${tag}[data-key]`),
]
const fields = (section: Element): Field[] => [...keyed<Field>(section, 'input'), ...keyed<Field>(section, 'select')]
const keyOf = (element: Element | null): string | undefined => (element as HTMLElement | null)?.dataset.key

/**
 * Redraws a section and keeps the user's state: typed text, open details, and the focus. Old and new elements are
 * matched by their `data-key`.
 */
export function redraw(section: HTMLElement, ...children: Child[]): void {
  const values = new Map(
    fields(section)
      .filter(isTouched)
      .map((field) => [keyOf(field), field]),
  )
  const open = new Set(keyed<HTMLDetailsElement>(section, 'details').flatMap((d) => (d.open ? [keyOf(d)] : [])))
  const hadFocus = section.contains(document.activeElement)
  const focused = hadFocus ? keyOf(document.activeElement) : undefined
  section.replaceChildren(...children.filter((child): child is Node | string => Boolean(child)))
  for (const details of keyed<HTMLDetailsElement>(section, 'details')) details.open = open.has(keyOf(details))
  for (const field of fields(section)) {
    const before = values.get(keyOf(field))
    if (before) restore(field, before)
  }
  if (!hadFocus) return
  const again = focused === undefined ? undefined : keyed<HTMLElement>(section).find((e) => keyOf(e) === focused)
  // without the focused element, the section's heading is nearest; otherwise the keyboard would restart at the top
  if (again) again.focus()
  else focusHeading(section)
}

function isTouched(field: Field): boolean {
  if (field instanceof HTMLSelectElement) return field.selectedIndex > 0
  return field.type === 'checkbox' ? field.checked !== field.defaultChecked : field.value !== field.defaultValue
}

function restore(field: Field, before: Field): void {
  if (field instanceof HTMLInputElement && before instanceof HTMLInputElement) field.checked = before.checked
  field.value = before.value
  field.dispatchEvent(new Event('input'))
}

/** `0x1234…cdef` */
export const short = (address: string): string =>
  address.length > 14 ? `${address.slice(0, 6)}…${address.slice(-4)}` : address

/** Runs work unless it is running, and marks its control meanwhile. A disabled control would lose the focus. */
function once(control: HTMLElement, work: () => Promise<void>): () => Promise<void> {
  let isRunning = false
  return async () => {
    if (isRunning) return
    isRunning = true
    control.setAttribute('aria-busy', 'true')
    try {
      await work()
    } finally {
      isRunning = false
      control.removeAttribute('aria-busy')
    }
  }
}

/** A button that is marked while its work runs. */
export function button(text: string, work: () => Promise<void>, attributes: Attributes = {}): HTMLButtonElement {
  const element = h('button', { type: 'button', ...attributes }, text)
  element.addEventListener('click', once(element, work))
  return element
}

/** A form submitted by its button or by Enter. */
export function form(
  attributes: Attributes,
  work: (data: FormData, element: HTMLFormElement) => Promise<void>,
  ...children: Child[]
): HTMLFormElement {
  const element = h('form', attributes, ...children)
  const submit = once(element, () => work(new FormData(element), element))
  element.addEventListener('submit', (event) => {
    event.preventDefault()
    void submit()
  })
  return element
}

/** Asks before something irreversible. @returns whether the answer was yes */
export function confirmed(title: string, text: string, yes: string): Promise<boolean> {
  return new Promise((resolve) => {
    const dialog = h(
      'dialog',
      { 'aria-labelledby': 'confirm-title' },
      h('h2', { id: 'confirm-title' }, title),
      h('p', text),
      h(
        'form',
        { method: 'dialog', class: 'row' },
        h('button', { value: 'no', class: 'plain', autofocus: true }, 'Cancel'),
        h('button', { value: 'yes', class: 'danger' }, yes),
      ),
    )
    dialog.addEventListener('close', () => {
      dialog.remove()
      resolve(dialog.returnValue === 'yes')
    })
    document.body.append(dialog)
    dialog.showModal()
  })
}

/** Focuses a section's heading after the focused element is gone. */
export function focusHeading(section: HTMLElement): void {
  const heading = section.querySelector('h2')
  if (!heading) return
  heading.tabIndex = -1
  heading.focus()
}

/** Shows a message, also to a screen reader. */
export function say(text: string, kind: 'note' | 'error' = 'note'): void {
  const line = byId('message')
  line.textContent = text
  line.dataset.kind = kind
}

/** Runs work and shows its error. @returns whether it succeeded */
export async function attempt(work: () => Promise<void>): Promise<boolean> {
  try {
    await work()
    return true
  } catch (error) {
    say(sentenceOf(error), 'error')
    return false
  }
}

function sentenceOf(error: unknown): string {
  // wallets reject with plain objects
  const message = (error as { message?: unknown } | null)?.message
  return typeof message === 'string' && message !== '' ? message : 'That did not work.'
}
