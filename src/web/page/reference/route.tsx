import type {
  OpenAPIObject,
  ParameterObject,
  RequestBodyObject,
  ResponseObject,
} from 'openapi3-ts/oas31'
import { useState } from 'preact/hooks'
import { exampleOfSchema, type Route, resolveReference, schemaTypeText } from './document.js'
import { clientSample, curlSample, type SampleRequest, samplePath } from './samples.js'

const JSON_TYPE = 'application/json'
const STREAM_TYPE = 'text/event-stream'
/** Maximum number of characters of a response to show. */
const SHOWN = 20_000
const NO_CONTENT: RequestBodyObject = { content: {} }

interface RouteProps {
  document: OpenAPIObject
  route: Route
  /** Authentication key; empty for none. */
  token: string
}

/** A route, collapsed until the visitor opens it. */
export function RouteDetails(props: RouteProps) {
  const { id, method, path, summary, deprecated } = props.route
  const [isOpen, setOpen] = useState(location.hash === `#${id}`)
  return (
    <details
      class="card route"
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <h3>
          <span class="badge">{method.toUpperCase()}</span> <code>{path}</code>
        </h3>
        <span class="soft">
          {summary}
          {deprecated && ' (deprecated)'}
        </span>
      </summary>
      {/* a browser that is sent to a fragment opens the `details` element that contains the fragment */}
      <div id={id}>{isOpen && <Details {...props} />}</div>
    </details>
  )
}

/** Path and query parameters of a route. `testnet` is left out, because the page sets it for all routes. */
const parametersOf = (document: OpenAPIObject, { parameters = [] }: Route): ParameterObject[] =>
  parameters
    .map((parameter) => resolveReference<ParameterObject>(document, parameter))
    .filter((parameter) => parameter.in !== 'header')

function Details({ document, route, token }: RouteProps) {
  const {
    method,
    path,
    description,
    requestBody = NO_CONTENT,
    responses = {},
    security = [],
  } = route
  const parameters = parametersOf(document, route)
  const content = resolveReference(document, requestBody).content[JSON_TYPE]
  const isStream = STREAM_TYPE in resolveReference(document, responses['200'] ?? NO_CONTENT).content
  const [values, setValues] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(
      parameters.map(({ name, required, schema }) => [
        name,
        required ? String(exampleOfSchema(document, schema!)) : '',
      ]),
    ),
  )
  const [body, setBody] = useState(() =>
    JSON.stringify(
      content && (content.example ?? exampleOfSchema(document, content.schema!)),
      null,
      2,
    ),
  )
  const valuesIn = (place: ParameterObject['in']) =>
    Object.fromEntries(
      parameters
        .filter((one) => one.in === place && (place === 'path' || values[one.name] !== ''))
        .map(({ name }) => [name, values[name] ?? '']),
    )
  const asked: SampleRequest = {
    method,
    path,
    params: valuesIn('path'),
    query: valuesIn('query'),
    body: content ? body : undefined,
    hasKey: security.some((one) => 'authKey' in one),
  }
  return (
    <>
      {description && <p>{description}</p>}
      <div class="form">
        {parameters.map(({ name, required, description }) => (
          <label class="field" key={name}>
            <span>
              <code>{name}</code> {required ? '' : '(optional)'}
            </span>
            <input
              value={values[name]}
              onInput={(event) => setValues({ ...values, [name]: event.currentTarget.value })}
            />
            {description && <small>{description}</small>}
          </label>
        ))}
        {content && (
          <label class="field">
            Body
            <textarea
              rows={Math.min(16, body.split('\n').length)}
              spellcheck={false}
              value={body}
              onInput={(event) => setBody(event.currentTarget.value)}
            />
          </label>
        )}
      </div>
      {!isStream && <Try asked={asked} token={token} />}
      <h4>curl</h4>
      <Code text={curlSample(asked, location.origin)} />
      <h4>TypeScript</h4>
      <Code text={clientSample(asked, location.origin)} />
      {content && (
        <>
          <h4>Body</h4>
          <Code text={schemaTypeText(document, content.schema!)} />
        </>
      )}
      {Object.entries(responses).map(([status, response]) => (
        <Answer key={status} document={document} status={status} response={response} />
      ))}
    </>
  )
}

const Code = ({ text }: { text: string }) => (
  <pre>
    <code>{text}</code>
  </pre>
)

function Answer({
  document,
  status,
  response,
}: {
  document: OpenAPIObject
  status: string
  response: ResponseObject
}) {
  const { description, content = {} } = resolveReference(document, response)
  const isError = Number(status) >= 400
  return (
    <>
      <h4>
        {status} <span class="soft">{description}</span>
      </h4>
      {!isError &&
        Object.entries(content).map(([type, { schema }]) => (
          <div key={type}>
            {type !== JSON_TYPE && <p class="soft">{type}</p>}
            <Code text={schemaTypeText(document, schema!)} />
          </div>
        ))}
    </>
  )
}

/** Sends the request of a form, and shows the response. */
function Try({ asked, token }: { asked: SampleRequest; token: string }) {
  const [answer, setAnswer] = useState('')
  const send = async () => {
    setAnswer('…')
    const { method, body, hasKey } = asked
    const headers = {
      ...(body !== undefined && { 'content-type': JSON_TYPE }),
      ...(hasKey && token !== '' && { 'x-auth-key': token }),
    }
    const init = { method: method.toUpperCase(), headers, ...(body !== undefined && { body }) }
    setAnswer(await fetch(samplePath(asked), init).then(textOf, String))
  }
  return (
    <>
      <p>
        <button type="button" class="plain" onClick={() => void send()}>
          Send
        </button>
      </p>
      <div aria-live="polite" class="answer">
        {answer && <Code text={answer} />}
      </div>
    </>
  )
}

async function textOf(response: globalThis.Response): Promise<string> {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith(JSON_TYPE)
  const shown = isJson ? JSON.stringify(JSON.parse(text), null, 2) : text
  return `${response.status} ${response.statusText}\n${shown.slice(0, SHOWN)}`
}
