/** What a person finds on a page by its words: text, links, buttons with their forms, and inputs by their labels. */
import { type DefaultTreeAdapterTypes, parse } from 'parse5'

type Node = DefaultTreeAdapterTypes.Node
type Element = DefaultTreeAdapterTypes.Element

/** What a press sends: the address of a link, or a form. */
export type Pressed =
  | { readonly kind: 'link'; readonly href: string }
  | {
      readonly kind: 'form'
      readonly method: 'GET' | 'POST'
      /** '' for the page itself. */
      readonly action: string
      readonly isMultipart: boolean
      readonly fields: readonly (readonly [name: string, value: string | FilledFile])[]
    }

export interface FilledFile {
  readonly file: string
  readonly text: string
}

/** By label or name: a text, whether a box is ticked, the choices of a list, or a file with its name and text. */
export type Filled = Readonly<Record<string, string | number | boolean | readonly string[] | FilledFile>>

export interface ReadPage {
  /** All that is seen, in one line. */
  readonly text: string
  /** `row`: a text of the row that the button is in. Throws an Error that says what there is instead. */
  press(words: string, options: { readonly row?: string | undefined; readonly fill?: Filled }): Pressed
}

const UNSEEN = new Set(['script', 'style', 'template', 'head', 'svg'])
const ROWS = new Set(['tr', 'li', 'article'])
/** Of lists in messages. */
const MOST_NAMED = 20

export function readPage(html: string): ReadPage {
  const elements = [...elementsIn(parse(html))]
  return {
    text: textOf(parse(html)),
    press(words, { row, fill }) {
      const found = elements.filter((one) => isPressed(one) && wordsOf(one) === words)
      const within = found.filter((one) => row === undefined || textOf(rowOf(one)).includes(row))
      const buttons = within.filter(({ tagName }) => tagName !== 'a')
      const meant = fill && buttons.length > 0 ? buttons : within
      const [one, another] = meant
      if (!one) throw new Error(missing(words, row, found, elements))
      if (another && !sameTarget(meant))
        throw new Error(`The page has ${meant.length} times ${JSON.stringify(words)}: say in row which one.`)
      if (one.tagName === 'a') return { kind: 'link', href: attribute(one, 'href') ?? '' }
      const form = formOf(one, elements)
      if (!form)
        throw new Error(
          `${JSON.stringify(words)} belongs to no form: it needs a script. Press what it opens.`,
        )
      return sent(form, one, fill ?? {}, elements)
    },
  }
}

function isPressed(one: Element): boolean {
  if (one.tagName === 'a') return attribute(one, 'href') !== undefined
  if (one.tagName === 'button') return attribute(one, 'type') !== 'button'
  return one.tagName === 'input' && attribute(one, 'type') === 'submit'
}

function wordsOf(one: Element): string {
  return textOf(one) || attribute(one, 'aria-label') || attribute(one, 'value') || ''
}

/** Links to one address, such as a menu and a table have. */
function sameTarget(meant: readonly Element[]): boolean {
  const targets = meant.map((one) => (one.tagName === 'a' ? attribute(one, 'href') : undefined))
  return targets.every((one) => one !== undefined && one === targets[0])
}

function missing(
  words: string,
  row: string | undefined,
  found: readonly Element[],
  elements: readonly Element[],
): string {
  if (found.length > 0) return `No row with ${JSON.stringify(row)} has ${JSON.stringify(words)}.`
  const all = new Set(elements.filter(isPressed).map(wordsOf))
  const named = [...all].slice(0, MOST_NAMED).map((one) => JSON.stringify(one))
  return `The page has no button or link ${JSON.stringify(words)}. It has: ${named.join(', ') || 'none'}.`
}

function sent(form: Element, button: Element, fill: Filled, elements: readonly Element[]): Pressed {
  const controls = elements.filter((one) => isControl(one) && formOf(one, elements) === form)
  const values = new Map<Element, Filled[string]>()
  for (const [name, value] of Object.entries(fill)) {
    const named = controls.filter((one) => isNamed(one, name, elements))
    if (named.length === 0) throw new Error(unknownInput(name, controls, elements))
    for (const one of named) values.set(one, value)
  }
  const fields = controls.flatMap((one) => fieldsOf(one, values.get(one)))
  const isMultipart = attribute(form, 'enctype') === 'multipart/form-data'
  const file = fields.find(([, value]) => typeof value !== 'string')
  if (file && !isMultipart) throw new Error(`The form sends no files, and ${file[0]} is one.`)
  const name = attribute(button, 'name')
  if (name) fields.push([name, attribute(button, 'value') ?? ''])
  return {
    kind: 'form',
    method: attribute(form, 'method')?.toUpperCase() === 'POST' ? 'POST' : 'GET',
    action: attribute(button, 'formaction') ?? attribute(form, 'action') ?? '',
    isMultipart,
    fields,
  }
}

function isControl(one: Element): boolean {
  return ['input', 'textarea', 'select'].includes(one.tagName) && attribute(one, 'name') !== undefined
}

function isNamed(one: Element, name: string, elements: readonly Element[]): boolean {
  return attribute(one, 'name') === name || labelsOf(one, elements).includes(name)
}

function labelsOf(one: Element, elements: readonly Element[]): string[] {
  const id = attribute(one, 'id')
  const labels = elements.filter(
    (label) =>
      label.tagName === 'label' &&
      ((id !== undefined && attribute(label, 'for') === id) || isWithin(one, label)),
  )
  const said = attribute(one, 'aria-label')
  return [...labels.map(labelText), ...(said === undefined ? [] : [said])].flatMap((text) => [
    text,
    withoutNote(text),
  ])
}

/** Without what can be chosen in a list that stands in the label. */
function labelText(label: Element): string {
  const parts = label.childNodes.filter((node) => !['select', 'textarea'].includes(node.nodeName))
  return parts.map(textOf).join(' ').trim()
}

/** Without what stands behind it, such as (optional) or a star. */
function withoutNote(text: string): string {
  const bracket = text.endsWith(')') ? text.lastIndexOf('(') : -1
  return (bracket > 0 ? text.slice(0, bracket) : text.endsWith('*') ? text.slice(0, -1) : text).trim()
}

function unknownInput(name: string, controls: readonly Element[], elements: readonly Element[]): string {
  const seen = controls.filter((one) => attribute(one, 'type') !== 'hidden')
  const named = seen
    .slice(0, MOST_NAMED)
    .map((one) => labelsOf(one, elements).at(-1) ?? attribute(one, 'name') ?? '')
  return `The form has no input ${JSON.stringify(name)}. It has: ${named.map((one) => JSON.stringify(one)).join(', ') || 'none'}.`
}

/** What the control sends: as it stands where no value is given. */
function fieldsOf(one: Element, input: Filled[string] | undefined): [string, string | FilledFile][] {
  const name = attribute(one, 'name') ?? ''
  if (attribute(one, 'disabled') !== undefined) return []
  if (attribute(one, 'type') === 'file') return input === undefined ? [] : [[name, fileOf(name, input)]]
  if (isFile(input)) throw new Error(`The input ${name} takes no file.`)
  if (one.tagName === 'select') return chosen(one, input).map((value) => [name, value])
  if (one.tagName === 'textarea') return [[name, input === undefined ? rawText(one) : String(input)]]
  const type = attribute(one, 'type')
  const value = attribute(one, 'value') ?? ''
  switch (type) {
    case 'checkbox':
    case 'radio': {
      const own = attribute(one, 'value') ?? 'on'
      const isTicked =
        input === undefined
          ? attribute(one, 'checked') !== undefined
          : typeof input === 'boolean'
            ? input
            : [input].flat().map(String).includes(own)
      return isTicked ? [[name, own]] : []
    }
    case 'submit':
    case 'image':
    case 'button':
    case 'reset':
      return []
    default:
      return [[name, input === undefined ? value : String(input)]]
  }
}

function isFile(input: Filled[string] | undefined): input is FilledFile {
  return typeof input === 'object' && 'file' in input
}

function fileOf(name: string, input: Filled[string]): FilledFile {
  if (isFile(input)) return input
  throw new Error(`The input ${name} takes a file: { "file": "goods.csv", "text": "…" }.`)
}

function chosen(select: Element, input: Exclude<Filled[string], FilledFile> | undefined): string[] {
  const options = [...elementsIn(select)].filter(({ tagName }) => tagName === 'option')
  const sentBy = (option: Element) => attribute(option, 'value') ?? textOf(option)
  if (input === undefined) {
    const selected = options.filter((option) => attribute(option, 'selected') !== undefined)
    const isMany = attribute(select, 'multiple') !== undefined
    return (selected.length > 0 || isMany ? selected : options.slice(0, 1)).map(sentBy)
  }
  return [input].flat().map((requested) => {
    const option = options.find(
      (one) => textOf(one) === String(requested) || sentBy(one) === String(requested),
    )
    if (option) return sentBy(option)
    const named = options.slice(0, MOST_NAMED).map((one) => JSON.stringify(textOf(one)))
    throw new Error(
      `The list ${attribute(select, 'name')} has no ${JSON.stringify(requested)}. It has: ${named.join(', ')}.`,
    )
  })
}

function formOf(one: Element, elements: readonly Element[]): Element | undefined {
  const id = attribute(one, 'form')
  if (id !== undefined)
    return elements.find((form) => form.tagName === 'form' && attribute(form, 'id') === id)
  return around(one, ({ tagName }) => tagName === 'form')
}

function rowOf(one: Element): Node {
  return around(one, ({ tagName }) => ROWS.has(tagName)) ?? one
}

function isWithin(one: Element, outer: Element): boolean {
  return around(one, (element) => element === outer) !== undefined
}

function around(one: Element, is: (element: Element) => boolean): Element | undefined {
  let node: Node | null = one.parentNode
  while (node !== null) {
    if (isElement(node) && is(node)) return node
    node = 'parentNode' in node ? node.parentNode : null
  }
  return undefined
}

function* elementsIn(node: Node): Generator<Element> {
  if (!('childNodes' in node)) return
  for (const child of node.childNodes) {
    if (isElement(child)) yield child
    yield* elementsIn(child)
  }
}

function textOf(node: Node): string {
  return words(node).join(' ').replace(/\s+/g, ' ').trim()
}

function words(node: Node): string[] {
  if (node.nodeName === '#text' && 'value' in node) return [node.value]
  if (UNSEEN.has(node.nodeName) || !('childNodes' in node)) return []
  return node.childNodes.flatMap(words)
}

function rawText(one: Element): string {
  return one.childNodes.map((node) => ('value' in node ? node.value : '')).join('')
}

function isElement(node: Node): node is Element {
  return 'tagName' in node
}

function attribute({ attrs }: Element, name: string): string | undefined {
  return attrs.find((one) => one.name === name)?.value
}
