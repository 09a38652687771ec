// this script runs the forms of `/docs`, whose pages scripts/reference makes from the OpenAPI documents
import { clientSample, curlSample, type SampleRequest, samplePath } from './samples.js'

const JSON_CONTENT_TYPE = 'application/json'
/** Maximum number of characters of a response to show. */
const MAX_SHOWN_CHARS = 20_000

type InputList = NodeListOf<HTMLInputElement>

/** The request as filled into a route's form. @param route element of the route */
function readRequestForm(route: HTMLElement): SampleRequest {
  const { method = 'get', path = '', key } = route.dataset
  const valuesIn = (place: string) =>
    Object.fromEntries(
      [...(route.querySelectorAll(`input[data-in=${place}]`) as InputList)]
        .filter(({ value }) => place === 'path' || value !== '')
        .map(({ name, value }) => [name, value]),
    )
  const body = route.querySelector('textarea')?.value
  return {
    method,
    path,
    body,
    hasKey: key !== undefined,
    params: valuesIn('path'),
    query: valuesIn('query'),
  }
}

function showText(route: HTMLElement, place: string, text: string): void {
  route.querySelector(`[data-shows=${place}]`)!.textContent = text
}

function updateSamples(route: HTMLElement): void {
  const request = readRequestForm(route)
  showText(route, 'curl', curlSample(request, location.origin))
  showText(route, 'typescript', clientSample(request, location.origin))
}

async function responseText(response: Response): Promise<string> {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith(JSON_CONTENT_TYPE)
  const shown = isJson ? JSON.stringify(JSON.parse(text), null, 2) : text
  return `${response.status} ${response.statusText}\n${shown.slice(0, MAX_SHOWN_CHARS)}`
}

/** Sends the request of a form, and shows the response. */
async function sendRequest(route: HTMLElement): Promise<void> {
  showText(route, 'answer', '…')
  const { method, body, hasKey, ...place } = readRequestForm(route)
  const token = document.querySelector<HTMLInputElement>('#key')!.value.trim()
  const headers = {
    ...(body !== undefined && { 'content-type': JSON_CONTENT_TYPE }),
    ...(hasKey && token !== '' && { 'x-auth-key': token }),
  }
  const init = { method: method.toUpperCase(), headers, ...(body !== undefined && { body }) }
  const path = samplePath({ method, body, hasKey, ...place })
  showText(route, 'answer', await fetch(path, init).then(responseText, String))
}

/** Shows only the routes whose heading (method, path and summary) contains a text, ignoring case. */
function showMatchingRoutes(text: string): void {
  for (const section of document.querySelectorAll<HTMLElement>('.routes')) {
    const routes = [...section.querySelectorAll<HTMLElement>('.route')]
    for (const route of routes) {
      const summary = route.querySelector('summary')!.textContent!
      route.hidden = !summary.toLowerCase().includes(text.toLowerCase())
    }
    section.hidden = routes.every(({ hidden }) => hidden)
  }
}

const routeOfEvent = ({ target }: Event) => (target as Element).closest<HTMLElement>('.route')

document.addEventListener('input', (event) => {
  const route = routeOfEvent(event)
  if (route) updateSamples(route)
  const { id, value } = event.target as HTMLInputElement
  if (id === 'find') showMatchingRoutes(value)
})
document.addEventListener('click', (event) => {
  const route = routeOfEvent(event)
  if (route && event.target instanceof HTMLButtonElement) void sendRequest(route)
})
for (const route of document.querySelectorAll<HTMLElement>('.route')) updateSamples(route)
