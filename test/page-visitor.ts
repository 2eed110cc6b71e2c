/** A browser without JavaScript: it keeps cookies, follows redirects when told to, and sends forms as they stand in the page. */

export interface SeenPage {
  readonly status: number
  readonly url: string
  readonly headers: Headers
  readonly html: string
  /** All text of the page, without tags. */
  readonly text: string
  /** By its id, or the id of its table; without one by the words on a button of it. */
  form(id: string | undefined, button?: string): SeenForm
  has(form: string): boolean
  /** The address of the first link with these words. */
  link(words: string): string
}

export interface SeenForm {
  readonly action: string
  readonly multipart: boolean
  /** What the form sends as it stands, without its buttons. */
  readonly fields: readonly (readonly [string, string])[]
  /** Name and value of the button with these words. */
  button(words: string): readonly [string, string] | undefined
  /** The first tag of the input with this name, as it is written. */
  input(name: string): string
}

export interface Visitor {
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<SeenPage>
  /** Fills the form in and sends it; what is not named is sent as it stands, undefined is not sent. Follows no redirect. */
  submit(
    page: SeenPage,
    form: string | undefined,
    values?: Readonly<Record<string, string | readonly string[] | File | undefined>>,
    options?: { readonly button?: string; readonly headers?: Readonly<Record<string, string>> },
  ): Promise<SeenPage>
  /** Sends fields as a form that no page has. */
  post(path: string, fields: Readonly<Record<string, string>>): Promise<SeenPage>
  /** Where a page sent the browser to. */
  follow(page: SeenPage): Promise<SeenPage>
  cookie(name: string): string | undefined
  setCookie(name: string, value: string): void
}

export function openVisitor(origin: string): Visitor {
  const jar = new Map<string, string>()

  async function ask(
    path: string,
    init: RequestInit & { headers?: Record<string, string> } = {},
  ): Promise<SeenPage> {
    const url = new URL(path, origin)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { accept: 'text/html,*/*;q=0.8', ...(cookie && { cookie }), ...init.headers }
    const reply = await fetch(url, { ...init, headers, redirect: 'manual' })
    for (const line of reply.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';')
      const [name = '', value = ''] = pair.split('=')
      if (value === '' || attributes.some((one) => /max-age=0$/i.test(one))) jar.delete(name)
      else jar.set(name, value)
    }
    return seenPage(reply, `${url.pathname}${url.search}`, await reply.text())
  }

  return {
    get: (path, headers = {}) => ask(path, { headers }),
    submit(page, id, values = {}, { button, headers = {} } = {}) {
      const form = page.form(id, button)
      const clicked = button === undefined ? undefined : form.button(button)
      const fields = form.fields.filter(([name]) => !Object.hasOwn(values, name))
      const body = form.multipart ? new FormData() : new URLSearchParams()
      for (const [name, value] of fields) body.append(name, value)
      for (const [name, value] of Object.entries(values))
        for (const one of value === undefined ? [] : [value].flat()) {
          if (one instanceof File && body instanceof FormData) body.append(name, one)
          else body.append(name, String(one))
        }
      if (clicked) body.append(...clicked)
      return ask(form.action || page.url, { method: 'POST', body, headers: { origin, ...headers } })
    },
    post: (path, fields) =>
      ask(path, { method: 'POST', body: new URLSearchParams(fields), headers: { origin } }),
    follow(page) {
      const location = page.headers.get('location')
      if (location === null) throw new Error(`${page.url} answered ${page.status} and leads nowhere.`)
      return ask(new URL(location, new URL(page.url, origin)).toString().slice(origin.length))
    },
    cookie: (name) => jar.get(name),
    setCookie: (name, value) => void jar.set(name, value),
  }
}

function seenPage(reply: Response, url: string, html: string): SeenPage {
  const page: SeenPage = {
    status: reply.status,
    url,
    headers: reply.headers,
    html,
    text: plain(html.replace(/<(script|style)\b.*?<\/\1>/gs, ' ').replace(/<[^>]*>/g, ' ')).replace(
      /\s+/g,
      ' ',
    ),
    form(id, button) {
      for (const [, attributes = '', inner = ''] of html.matchAll(
        /<form\b((?:"[^"]*"|[^>"])*)>(.*?)<\/form>/gs,
      )) {
        if (attributeOf(attributes, 'method') !== 'post') continue
        const form = seenForm(attributes, inner)
        const names = form.fields
          .filter(([name]) => name === '_form' || name === '_table')
          .map(([, value]) => value)
        const isMeant =
          id === undefined
            ? button !== undefined && form.button(button)
            : names.includes(id) || attributeOf(attributes, 'id') === id
        if (isMeant) return form
      }
      throw new Error(`${url} has no form ${id ?? button}:\n${html}`)
    },
    has(id) {
      try {
        return page.form(id) !== undefined
      } catch {
        return false
      }
    },
    link(words) {
      for (const [, attributes = '', inner = ''] of html.matchAll(/<a\b((?:"[^"]*"|[^>"])*)>(.*?)<\/a>/gs))
        if (plain(inner.replace(/<[^>]*>/g, '')).trim() === words)
          return attributeOf(attributes, 'href') ?? ''
      throw new Error(`${url} has no link ${words}:\n${html}`)
    },
  }
  return page
}

function seenForm(attributes: string, inner: string): SeenForm {
  return {
    action: attributeOf(attributes, 'action') ?? '',
    multipart: attributeOf(attributes, 'enctype') === 'multipart/form-data',
    fields: [...inputs(inner), ...areas(inner), ...selects(inner)],
    button(words) {
      for (const [, tag = '', label = ''] of inner.matchAll(
        /<button\b((?:"[^"]*"|[^>"])*)>(.*?)<\/button>/gs,
      )) {
        const name = attributeOf(tag, 'name')
        if (plain(label.replace(/<[^>]*>/g, '')).trim() === words && name)
          return [name, attributeOf(tag, 'value') ?? '']
      }
      return undefined
    },
    input(name) {
      for (const [tag] of inner.matchAll(/<(?:input|textarea|select)\b(?:"[^"]*"|[^>"])*>/g))
        if (attributeOf(tag, 'name') === name) return tag
      throw new Error(`The form has no input ${name}:\n${inner}`)
    },
  }
}

function inputs(inner: string): [string, string][] {
  return [...inner.matchAll(/<input\b((?:"[^"]*"|[^>"])*)>/g)].flatMap(([, tag = '']): [string, string][] => {
    const [name, type] = [attributeOf(tag, 'name'), attributeOf(tag, 'type')]
    const box = type === 'checkbox' || type === 'radio'
    if (!name || type === 'file' || (box && !/\bchecked\b/.test(tag))) return []
    return [[name, attributeOf(tag, 'value') ?? (box ? 'on' : '')]]
  })
}

function areas(inner: string): [string, string][] {
  return [...inner.matchAll(/<textarea\b((?:"[^"]*"|[^>"])*)>(.*?)<\/textarea>/gs)].map(
    ([, tag = '', value = '']) => [attributeOf(tag, 'name') ?? '', plain(value)],
  )
}

function selects(inner: string): [string, string][] {
  return [...inner.matchAll(/<select\b((?:"[^"]*"|[^>"])*)>(.*?)<\/select>/gs)].flatMap(
    ([, tag = '', options = '']) => {
      const all = [...options.matchAll(/<option\b((?:"[^"]*"|[^>"])*)>/g)].map(([, option = '']) => option)
      const chosen = all.filter((option) => /\bselected\b/.test(option))
      const sent = chosen.length > 0 || /\bmultiple\b/.test(tag) ? chosen : all.slice(0, 1)
      return sent.map((option): [string, string] => [
        attributeOf(tag, 'name') ?? '',
        attributeOf(option, 'value') ?? '',
      ])
    },
  )
}

function attributeOf(tag: string, name: string): string | undefined {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1]
  return value === undefined ? undefined : plain(value)
}

function plain(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
