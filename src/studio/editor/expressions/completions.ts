/** What can be written at a place of an expression. */
import { fieldChangeFunctions } from '../../../expressions/language/declared/field-changes.ts'
import { functionGroups, methodGroups } from '../../../expressions/language/declared/functions.ts'
import type {
  FunctionDeclaration,
  MethodDeclaration,
} from '../../../expressions/language/function-declaration.ts'
import { whereFunctions } from '../../../expressions/language/where/where-condition.ts'
import type { PinType } from '../../../shared/pin-type.ts'
import { propertiesTexts } from '../../texts/properties.ts'
import { glance } from '../model/runs/glance.ts'
import { type ExpressionScope, fieldsIn, knownValue } from './expression-scope.ts'
import { documentName, isScopeName, scopeNames } from './parsed-pin.ts'
import { tokensIn } from './tokens.ts'

export interface Completion {
  readonly label: string
  readonly kind: 'block' | 'pin' | 'field' | 'name' | 'function' | 'method'
  /** Beside the label: a type, a value or what a person calls it. */
  readonly detail: string
  readonly help: string
  readonly example?: string
}

export interface Completions {
  /** Where the word begins that is completed. */
  readonly from: number
  readonly options: readonly Completion[]
}

const IDENTIFIER = /^[A-Za-z_$][\w$]*$/

/** `at`: where the cursor is. Nothing within a text. */
export function completionsAt(text: string, at: number, scope: ExpressionScope): Completions | undefined {
  const before = text.slice(0, at)
  const inText = tokensIn(before).some(({ kind, end }) => kind === 'text' && end === at)
  if (inText && !before.endsWith('${')) return undefined
  const word = /[A-Za-z_$][\w$]*$/.exec(before)?.[0] ?? ''
  const from = at - word.length
  const behind = before.slice(0, from).trimEnd()
  if (/\d$/.test(behind) && word === '') return undefined
  if (!behind.endsWith('.'))
    return { from, options: [...named(before), ...parameters(before), ...names(scope), ...functions(scope)] }
  if (/(^|[^\w$])\d+\.$/.test(behind) || behind.endsWith('...')) {
    return behind.endsWith('...') ? { from, options: names(scope) } : undefined
  }
  const path = /((?:[A-Za-z_$][\w$]*\s*\??\.\s*)+)$/.exec(behind)?.[1]
  const start = behind.length - (path?.length ?? 0)
  // Behind a call or an index the path is not the whole of what is read.
  const isWhole = path !== undefined && !/[.)\]]\s*$/.test(behind.slice(0, start))
  const keys = path?.split('.').flatMap((key) => key.replace('?', '').trim() || [])
  return { from, options: keys && isWhole ? members(keys, scope) : methods() }
}

/** Parts that `let` has named before. */
function named(before: string): Completion[] {
  const names = [...before.matchAll(/\blet\s+([A-Za-z_$][\w$]*)\s*=/g)].map(([, name = '']) => name)
  return [...new Set(names)].map((label) => ({
    label,
    kind: 'name',
    detail: 'let',
    help: propertiesTexts.namedPart,
  }))
}

/** Parameters of arrow functions that begin before. */
function parameters(before: string): Completion[] {
  const found = [...before.matchAll(/(?:\(([\w$\s,]*)\)|([A-Za-z_$][\w$]*))\s*=>/g)]
  const all = found.flatMap(([, list, one]) => (list ?? one ?? '').split(',').map((name) => name.trim()))
  return [...new Set(all)]
    .filter((name) => IDENTIFIER.test(name))
    .map((label) => ({ label, kind: 'name', detail: 'parameter', help: propertiesTexts.functionParameter }))
}

function names(scope: ExpressionScope): Completion[] {
  const blocks = scope.blocks.map(({ name, title }): Completion => {
    const label = isScopeName(name) ? `blocks.${name}` : name
    return {
      label,
      kind: 'block',
      detail: title === name ? '' : title,
      help: propertiesTexts.blockNamed(title),
    }
  })
  const all = scope.only ?? [...(scope.hasDoc ? [documentName] : []), ...scopeNames]
  const input = all.map(
    ({ name, help }): Completion => ({ label: name, kind: 'name', detail: seen(scope.values[name]), help }),
  )
  return [...blocks, ...input]
}

function members(keys: readonly string[], scope: ExpressionScope): Completion[] {
  const [first = '', second] = keys
  if (first === 'blocks' && second === undefined)
    return scope.blocks.map(({ name, title }) => ({
      label: name,
      kind: 'block',
      detail: title,
      help: propertiesTexts.blockNamed(title),
    }))
  const path = first === 'blocks' ? keys.slice(1) : keys
  const block =
    first !== 'blocks' && isScopeName(first) ? undefined : scope.blocks.find(({ name }) => name === path[0])
  if (block && path.length === 1)
    return block.pins.map(({ id, type, help }) => {
      const value = block.gave?.[id]
      return { label: id, kind: 'pin', detail: value === undefined ? type : glance(value), help }
    })
  const value = knownValue(scope, keys)
  const pin = block && path.length === 2 ? block.pins.find(({ id }) => id === path[1])?.type : undefined
  const fields = Object.entries(fieldsIn(value)).filter(([key]) => IDENTIFIER.test(key))
  return [
    ...fields.map(([label, field]): Completion => ({ label, kind: 'field', detail: seen(field), help: '' })),
    ...methods(kindOf(value) ?? (pin && pinKinds[pin])),
  ]
}

type On = MethodDeclaration['on']

const pinKinds: Partial<Record<PinType, readonly On[]>> = {
  value: ['text', 'number'],
  line: ['text'],
  number: ['number'],
  array: ['list'],
  documents: ['list'],
  date: ['text'],
  condition: [],
  object: [],
  document: [],
  user: [],
}

function kindOf(value: unknown): readonly On[] | undefined {
  if (typeof value === 'string') return ['text']
  if (typeof value === 'number') return ['number']
  if (Array.isArray(value)) return ['list']
  return value === undefined || value === null ? undefined : []
}

function methods(on: readonly On[] = ['text', 'list', 'number']): Completion[] {
  const all = on.flatMap((kind): FunctionDeclaration[] => [...methodGroups[kind]])
  const byName = new Map(all.map((one) => [one.name, one]))
  return [...byName.values()].map((one) => declared(one, 'method'))
}

function functions({ language }: ExpressionScope): Completion[] {
  const changes: readonly FunctionDeclaration[] = fieldChangeFunctions
  const all = Object.values(functionGroups).filter((group) => language === 'set' || group !== changes)
  const own = language === 'where' ? whereFunctions : []
  return [...own, ...all.flat()].map((one) => declared(one, 'function'))
}

function declared(
  { name, help, parameters, example, result }: FunctionDeclaration,
  kind: 'function' | 'method',
) {
  const input = result === undefined ? '' : ` → ${JSON.stringify(result)}`
  const list = parameters.map((one) => `${one.rest ? '…' : ''}${one.name}${one.optional ? '?' : ''}`)
  return { label: name, kind, detail: `(${list.join(', ')})`, help, example: `${example}${input}` }
}

function seen(value: unknown): string {
  return value === undefined ? '' : glance(value)
}
