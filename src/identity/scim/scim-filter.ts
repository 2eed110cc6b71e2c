/**
 * Filters of SCIM (RFC 7644, 3.4.2.2) as searches: `and`, `or`, `not`, brackets, and all comparisons. Read from left to right in one pass; the
 * library `scimmy` takes seconds for 20 alternatives in a row and has no limits, see ARCHITECTURE.md.
 */
import { QuoinError } from '../../shared/errors.ts'
import type { Query, Scalar } from '../../shared/query.ts'
import { prefixBounds } from '../../shared/texts/folded-text.ts'

const LONGEST = 4_000
const MOST_COMPARISONS = 50
const DEEPEST = 10
/** Of comparisons that no index helps: each is done for every user. */
const MOST_PARTS = 5

/** Brackets, texts in quotation marks, the address of Entra, and everything else up to a space or bracket. */
const TOKEN = /\s*(?:([()])|("(?:[^"\\]|\\.)*")|(emails\[type eq "work"\]\.value|[^\s()"]+))/iy

/** `ne` is `not` around `eq`, for all attributes. */
export type Operator = 'eq' | 'co' | 'sw' | 'ew' | 'gt' | 'ge' | 'lt' | 'le' | 'pr'
const operators: readonly string[] = ['eq', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le', 'pr']

/** Of a text: whatever its case is, also behind the name of a schema. `undefined`: it is not searched by that. */
export type Comparison = (path: string, operator: Operator, value: Scalar) => Query | undefined

/** Throws INVALID_QUERY. */
export function scimFilter(text: string, comparison: Comparison): Query {
  if (text.length > LONGEST) throw refused(`is longer than ${LONGEST} characters`)
  const reader = tokensOf(text)
  let comparisons = 0
  let parts = 0

  function alternatives(depth: number): Query {
    if (depth > DEEPEST) throw refused(`has brackets more than ${DEEPEST} deep`)
    const queries = [together(depth)]
    while (reader.takesWord('or')) queries.push(together(depth))
    return joined('or', queries)
  }
  function together(depth: number): Query {
    const queries = [term(depth)]
    while (reader.takesWord('and')) queries.push(term(depth))
    return joined('and', queries)
  }
  function term(depth: number): Query {
    if (reader.takesNot()) {
      const inner = term(depth)
      return { kind: 'not', query: inner }
    }
    if (reader.takes('(')) {
      const inner = alternatives(depth + 1)
      if (!reader.takes(')')) throw refused('has a bracket that is not closed')
      return inner
    }
    comparisons += 1
    if (comparisons > MOST_COMPARISONS) throw refused(`has more than ${MOST_COMPARISONS} comparisons`)
    return compared(reader, (path, operator, value) => {
      if (operator === 'co' || operator === 'ew') parts += 1
      if (parts > MOST_PARTS) throw refused(`has more than ${MOST_PARTS} comparisons with co and ew`)
      return comparison(path, operator, value)
    })
  }

  const query = alternatives(0)
  const rest = reader.next()
  if (rest !== undefined) throw refused(`goes on with ${shown(rest)} where it should end`)
  return query
}

function compared(reader: Tokens, comparison: Comparison): Query {
  const path = reader.next()
  if (path === undefined || path === ')' || path.startsWith('"'))
    throw refused('has no attribute where one should be')
  const word = reader.next()?.toLowerCase() ?? ''
  const operator = word === 'ne' ? 'eq' : word
  if (!isOperator(operator))
    throw refused(`has ${shown(word)} behind ${shown(path)}; use one of ${operators.join(', ')}, ne`)
  const value = operator === 'pr' ? true : scalarOf(reader.next())
  const query = comparison(attributeName(path), operator, value)
  if (!query) throw refused(`cannot compare ${shown(path)} with ${word}`)
  return word === 'ne' ? { kind: 'not', query } : query
}

function isOperator(word: string): word is Operator {
  return operators.includes(word)
}

function scalarOf(token: string | undefined): Scalar {
  if (token === undefined) throw refused('ends before a value')
  try {
    const value: unknown = JSON.parse(token)
    if (typeof value === 'string' || typeof value === 'boolean') return value
    if (typeof value === 'number' && Number.isFinite(value)) return value
  } catch {
    // Entra and others write True and False.
    const word = token.toLowerCase()
    if (word === 'true' || word === 'false') return word === 'true'
  }
  throw refused(`has the value ${shown(token)}; texts stand in quotation marks`)
}

/** `field` holds a text as it is compared, such as `username_key`: what it begins with is found by its index. */
export function textComparison(field: string, operator: Operator, text: string): Query | undefined {
  switch (operator) {
    case 'eq':
      return { kind: 'term', field, value: text }
    case 'sw':
      return { kind: 'range', field, bounds: prefixBounds(text) }
    case 'co':
      return { kind: 'contains', field, value: text }
    case 'ew':
      return { kind: 'caseless', field, test: 'endsWith', value: text }
    case 'pr':
      return { kind: 'not', query: { kind: 'empty', field } }
    default:
      return undefined
  }
}

/** In small letters, without the name of one of our schemas before it. */
export function attributeName(path: string): string {
  const name = path.toLowerCase().replace('[type eq "work"]', '')
  return name.replace(/^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/, '')
}

function joined(kind: 'and' | 'or', queries: readonly Query[]): Query {
  const [only] = queries
  return only && queries.length === 1 ? only : { kind, queries }
}

interface Tokens {
  next(): string | undefined
  takes(token: string): boolean
  takesWord(word: string): boolean
  /** The word `not` before a bracket, which stays. Elsewhere it is the name of an attribute. */
  takesNot(): boolean
}

function tokensOf(text: string): Tokens {
  let at = 0
  const peek = (): { readonly token: string; readonly end: number } | undefined => {
    TOKEN.lastIndex = at
    const found = TOKEN.exec(text)
    if (found) return { token: found[1] ?? found[2] ?? found[3] ?? '', end: TOKEN.lastIndex }
    if (text.slice(at).trim() !== '') throw refused('has a quotation mark that is not closed')
    return undefined
  }
  const takesWhere = (fits: (token: string) => boolean) => {
    const found = peek()
    if (!found || !fits(found.token)) return false
    at = found.end
    return true
  }
  return {
    next() {
      const found = peek()
      if (found) at = found.end
      return found?.token
    },
    takes: (token) => takesWhere((found) => found === token),
    takesWord: (word) => takesWhere((found) => found.toLowerCase() === word),
    takesNot() {
      const before = at
      if (takesWhere((found) => found.toLowerCase() === 'not') && peek()?.token === '(') return true
      at = before
      return false
    },
  }
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 60))
}

function refused(problem: string) {
  return scimRefused('invalidFilter', `The filter ${problem}.`)
}

type ScimType = 'invalidFilter' | 'tooMany' | 'invalidSyntax' | 'invalidPath' | 'invalidValue' | 'noTarget'

/** Refusals of SCIM (RFC 7644, 3.12): the word that its clients read goes along as `details.scimType`. */
export function scimRefused(scimType: ScimType, message: string): QuoinError {
  const code = scimType === 'invalidFilter' ? 'INVALID_QUERY' : 'INVALID_BODY'
  return new QuoinError(code, message, { details: { scimType } })
}
