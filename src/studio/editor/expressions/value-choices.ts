/** What can be put into a text: a tree of names of the run, pins of blocks, and the fields that they had the last time. */
import { propertiesTexts } from '../../texts/properties.ts'
import { glance } from '../model/runs/glance.ts'
import { type ExpressionScope, fieldsIn, knownValue } from './expression-scope.ts'
import { isScopeName, scopeNames } from './parsed-pin.ts'

export interface ValueChoice {
  /** As an expression says it: `goods.document.title`. */
  readonly path: string
  /** The value that it had the last time, or what kind of value it is. */
  readonly detail: string
  /** How deep it is in the tree: 0 for a pin or a name of the run. */
  readonly depth: number
  /** Whether its fields are listed below it; undefined where it has none. */
  readonly isOpen: boolean | undefined
}

const PATH = /^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*$/
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/
/** More are no help to choose from. */
const MOST_FIELDS = 40
const MOST_FOUND = 200
const DEEPEST = 5

type Node = Omit<ValueChoice, 'isOpen'> & { readonly value: unknown }

function roots(scope: ExpressionScope): Node[] {
  const root = (path: readonly string[], what: string): Node => {
    const value = knownValue(scope, path)
    const isKnown = value !== undefined && !isEmpty(value)
    return { path: path.join('.'), detail: isKnown ? glance(value) : what, depth: 0, value }
  }
  const pins = scope.blocks.flatMap(({ name, title, pins: all }) => {
    const start = isScopeName(name) ? ['blocks', name] : [name]
    return all.map(({ id, type }) => root([...start, id], propertiesTexts.typeOf(type, title)))
  })
  return [...pins, ...scopeNames.map(({ name, help }) => root([name], help))]
}

/** An object without fields says less than its explanation. */
function isEmpty(value: unknown): boolean {
  return JSON.stringify(value) === '{}'
}

function fieldsOf({ path, depth, value }: Node): Node[] {
  return Object.entries(fieldsIn(value))
    .filter(([key]) => IDENTIFIER.test(key))
    .slice(0, MOST_FIELDS)
    .map(([key, field]) => ({
      path: `${path}.${key}`,
      detail: glance(field),
      depth: depth + 1,
      value: field,
    }))
}

function choice({ value, ...node }: Node, isOpen: boolean | undefined): ValueChoice {
  return { ...node, isOpen }
}

/** The lines of the tree, with those fields that are open. */
export function valueTree(scope: ExpressionScope, opened: ReadonlySet<string>): ValueChoice[] {
  const lines = (nodes: readonly Node[]): ValueChoice[] =>
    nodes.flatMap((node) => {
      const fields = fieldsOf(node)
      if (fields.length === 0) return [choice(node, undefined)]
      const isOpen = opened.has(node.path)
      return [choice(node, isOpen), ...(isOpen ? lines(fields) : [])]
    })
  return lines(roots(scope))
}

/**
 * What has all words of the text, however deep; those come first that begin with it. A path into a known name that no run
 * had yet can be chosen as it is written.
 */
export function foundValues(scope: ExpressionScope, text: string): ValueChoice[] {
  // `query.` asks for what is in it, and finds the value itself where nothing is known of it.
  const words = text.toLowerCase().replace(/\.$/, '').split(/\s+/)
  const found: ValueChoice[] = []
  let level = roots(scope)
  const heads = new Set(level.map(({ path }) => path))
  for (let depth = 0; depth < DEEPEST && level.length > 0 && found.length < MOST_FOUND; depth++) {
    for (const node of level) {
      const line = `${node.path} ${node.detail}`.toLowerCase()
      if (words.every((word) => line.includes(word))) found.push({ ...choice(node, undefined), depth: 0 })
    }
    level = level.flatMap(fieldsOf).slice(0, MOST_FOUND * 10)
  }
  // What is called so comes before what has it in its value.
  const rank = ({ path }: ValueChoice) => {
    const name = path.toLowerCase()
    if (name.startsWith(text.toLowerCase())) return 2
    return words.every((word) => name.includes(word)) ? 1 : 0
  }
  const sorted = found.slice(0, MOST_FOUND).toSorted((a, b) => rank(b) - rank(a))
  const written = text.trim()
  const isNew = PATH.test(written) && !found.some(({ path }) => path === written) && isInside(written, heads)
  if (!isNew) return sorted
  return [{ path: written, detail: propertiesTexts.notInLastRun, depth: 0, isOpen: undefined }, ...sorted]
}

function isInside(path: string, heads: ReadonlySet<string>): boolean {
  return [...heads].some((head) => path.startsWith(`${head}.`))
}
