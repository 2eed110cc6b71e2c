/** A person on a page without scripts: opens it, fills in a form, presses a button or link, and is led on. */
import { type Filled, type Pressed, readPage } from './read-page.ts'
import type { Answer, FormBody, ScenarioRequests } from './scenario-requests.ts'

const MOST_REDIRECTS = 5
/** The address of the application in tests. */
const ORIGIN = 'http://app.test'

interface PageStep {
  readonly page: string
  readonly as?: string | undefined
  readonly fill?: Filled | undefined
  readonly press?: string | undefined
  readonly row?: string | undefined
}

/** The reply is that of the page that is seen at the end; its body is the text on it. */
export async function visitPage(
  requests: ScenarioRequests,
  { page, as, fill, press, row }: PageStep,
): Promise<Answer> {
  const cookies = new Map<string, string>()
  const ask = async (method: string, address: string, form?: FormBody) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await requests.send(method, address, {
      as,
      headers: {
        accept: 'text/html',
        host: new URL(ORIGIN).host,
        ...(form && { origin: ORIGIN }),
        ...(cookie !== '' && { cookie }),
      },
      form,
    })
    rememberCookies(cookies, answer)
    return answer
  }
  const opened = await watched(ask, page, await ask('GET', page))
  if (press === undefined) {
    if (fill !== undefined) throw new Error('fill needs press: the words on the button that sends the form.')
    return seen(opened)
  }
  const pressed = readPage(htmlOf(opened.answer)).press(press, { row, ...(fill && { fill }) })
  if (pressed.kind === 'link') {
    const address = resolved(pressed.href, opened.address)
    return seen(await watched(ask, address, await ask('GET', address)))
  }
  const action = resolved(pressed.action, opened.address)
  const body = await bodyOf(pressed)
  if (pressed.method === 'GET') {
    const address = `${action.split('?')[0]}?${body.payload.toString()}`
    return seen(await watched(ask, address, await ask('GET', address)))
  }
  return seen(await watched(ask, action, await ask('POST', action, body)))
}

/** Those of one step: a page that follows a redirect shows what the one before it has to say. */
function rememberCookies(cookies: Map<string, string>, { cookies: set = [] }: Answer): void {
  for (const one of set) {
    const [pair = ''] = one.split(';')
    const at = pair.indexOf('=')
    cookies.set(pair.slice(0, at).trim(), pair.slice(at + 1))
  }
}

interface Opened {
  readonly answer: Answer
  readonly address: string
}

type Ask = (method: string, address: string) => Promise<Answer>

async function watched(ask: Ask, from: string, first: Answer): Promise<Opened> {
  let [answer, address] = [first, from]
  for (let redirects = 0; ; redirects++) {
    const location = answer.headers?.location
    const { status = 0 } = answer
    if (status < 300 || status > 399 || typeof location !== 'string') return { answer, address }
    if (redirects === MOST_REDIRECTS) throw new Error(`${from} redirects more than ${MOST_REDIRECTS} times.`)
    address = resolved(location, address)
    answer = await ask('GET', address)
  }
}

function resolved(href: string, from: string): string {
  const { origin, pathname, search } = new URL(href, new URL(from, ORIGIN))
  if (origin !== ORIGIN) throw new Error(`${href} leads out of the application.`)
  return `${pathname}${search}`
}

async function bodyOf({ fields, isMultipart }: Extract<Pressed, { kind: 'form' }>): Promise<FormBody> {
  const form = isMultipart ? new FormData() : new URLSearchParams()
  for (const [name, value] of fields)
    if (typeof value === 'string') form.append(name, value)
    else if (form instanceof FormData)
      form.append(name, new Blob([value.text], { type: typeOfFile(value.file) }), value.file)
  const sent = new Response(form)
  return {
    type: sent.headers.get('content-type') ?? '',
    payload: Buffer.from(await sent.arrayBuffer()),
  }
}

function typeOfFile(name: string): string {
  return name.endsWith('.csv') ? 'text/csv' : 'application/octet-stream'
}

function htmlOf({ body }: Answer): string {
  return typeof body === 'string' ? body : ''
}

function seen({ answer, address }: Opened): Answer {
  const { body } = answer
  return { ...answer, address, ...(typeof body === 'string' && { body: readPage(body).text }) }
}
