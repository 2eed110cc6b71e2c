import {
  type Argument,
  type Binary,
  type Call,
  type Entry,
  type Expression,
  type ParsedExpression,
  type Place,
  partsOf,
  type Spread,
} from '../expression.ts'
import type { ExpressionProblem } from '../expression-error.ts'
import {
  type Comparison,
  documentField,
  isDocument,
  type Operand,
  type WhereCondition,
} from './where-condition.ts'

/** As functions of a where, the methods that builders know. */
const instead: Readonly<Record<string, string>> = {
  includes: 'Write contains(doc.field, part).',
  startsWith: 'Write startsWith(doc.field, part).',
}

const stored = 'Store the result in a field of its own, such as a computed field, and compare that.'

/** Why a part that asks nothing of a document cannot be meant: a filter in the form of an object would find all documents. */
function alwaysTrue(part: Argument): string | undefined {
  switch (part.kind) {
    case 'object': {
      const entry = part.entries.find((one) => one.kind === 'entry')
      const name = entry?.kind === 'entry' ? entry.key : 'status'
      return `An object is always true, so all documents would match. Write conditions, such as doc.${name} == "open".`
    }
    case 'list':
      return 'A list is always true, so all documents would match. Write conditions, such as doc.status == "open".'
    case 'template':
      return 'A value alone asks nothing of a document. Write a condition, such as doc.status == "open".'
    case 'literal':
      return typeof part.value === 'string' || typeof part.value === 'number'
        ? 'A value alone asks nothing of a document. Write a condition, such as doc.status == "open".'
        : undefined
    case 'choice':
      return alwaysTrue(part.then) ?? alwaysTrue(part.otherwise)
    default:
      return undefined
  }
}

/** Why a search cannot ask this of a document, and what to write. */
function refusalOf(part: Argument): string {
  if (part.kind !== 'arrow' && isDocument(part))
    return 'Name a field of the document and compare it, such as doc.status == "open".'
  if (part.kind !== 'arrow' && documentField(part)?.path !== undefined)
    return 'Compare the field with a value, such as doc.done == true.'
  switch (part.kind) {
    case 'binary':
    case 'unary':
    case 'template':
      return `A search cannot calculate with a field. ${stored}`
    case 'call':
      return `A search cannot call ${part.name} with a field; it knows contains, startsWith, isEmpty and search, and lower in the first two. ${stored}`
    case 'method':
      return `A search cannot call ${part.name} on a field. ${instead[part.name] ?? stored}`
    case 'let':
      return 'A search cannot name parts with let. Calculate them in another pin or a block Value before.'
    case 'choice':
      return 'A search cannot choose with ? and :. Write && and || instead.'
    case 'logical':
      return 'A search cannot choose with ??. Compare the field with null instead.'
    case 'index':
      return 'A search cannot look into a list at a position. contains(doc.field, x) finds an element.'
    default:
      return `A search can compare a field with a value only. ${stored}`
  }
}

export interface WhereOptions {
  /** Whether `maybe` may leave a comparison out: not where forgetting a value would change or remove everything. */
  readonly maybe: boolean
}

export interface ReadWhere {
  readonly condition: WhereCondition
  readonly problems: readonly ExpressionProblem[]
}

/** Reads an expression as what is asked of a document; what a search cannot ask is listed with its place. */
export function readWhere({ root }: ParsedExpression, options: WhereOptions): ReadWhere {
  const reader = new WhereReader(options)
  const condition = reader.read(root, false, true)
  return { condition, problems: reader.problems }
}

type Part = Argument | Entry | Spread

type Asked = Comparison | '!='

const changesCase: ReadonlySet<string> = new Set(['lower', 'upper'])
const lowerRefused =
  'A search without the difference of case knows contains, startsWith, == and != with a value: compare the field itself.'

const flipped: Readonly<Record<Asked, Asked>> = {
  '==': '==',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
}

class WhereReader {
  readonly problems: ExpressionProblem[] = []
  readonly #options: WhereOptions
  readonly #withDocument = new Map<Part, boolean>()

  constructor(options: WhereOptions) {
    this.#options = options
  }

  /** `outermost`: only `&&` is around it. */
  read(part: Expression, negated: boolean, outermost: boolean): WhereCondition {
    if (part.kind === 'logical' && part.operator !== '??') {
      const kind = (part.operator === '&&') === negated ? 'or' : 'and'
      const inside = outermost && kind === 'and'
      const parts = [part.left, part.right].map((one) => this.read(one, negated, inside))
      return { kind, parts: parts.flatMap((one) => (one.kind === kind ? one.parts : [one])) }
    }
    if (part.kind === 'unary' && part.operator === '!') return this.read(part.of, !negated, false)
    if (!this.#usesDocument(part)) {
      this.#refuseCalls(part)
      const problem = alwaysTrue(part)
      return problem === undefined ? { kind: 'run', part, negated } : this.#refuse(problem, part)
    }
    if (part.kind === 'binary') return this.#comparison(part, negated, outermost)
    if (part.kind === 'call') return this.#call(part, negated, outermost)
    return this.#refuse(refusalOf(part), part)
  }

  #comparison(part: Binary, negated: boolean, outermost: boolean): WhereCondition {
    const { operator, left, right } = part
    if (!isComparison(operator)) return this.#refuse(refusalOf(part), part)
    const turned = !this.#usesDocument(left)
    const asked = turned ? flipped[operator] : operator
    const read = this.#cased(turned ? right : left)
    const field = this.#field(read.part)
    if (field === undefined) return never
    const isNot = asked === '!=' ? !negated : negated
    const test = asked === '!=' ? '==' : asked
    const side = turned ? left : right
    if (read.caseless && (test !== '==' || this.#usesDocument(side))) return this.#refuse(lowerRefused, part)
    if (this.#usesDocument(side)) {
      const other = this.#field(side)
      if (other === undefined) return never
      if (test === '>' || test === '>=')
        return {
          kind: 'fields',
          field: other,
          operator: test === '>' ? '<' : '<=',
          other: field,
          negated: isNot,
        }
      return { kind: 'fields', field, operator: test, other, negated: isNot }
    }
    if (side.kind === 'literal' && side.value === null)
      return test === '==' ? { kind: 'missing', field, negated: isNot } : { kind: 'never', negated: isNot }
    const value = this.#operand(side, outermost)
    return { kind: 'compared', field, operator: test, value, negated: isNot, ...read.caseless }
  }

  #call(part: Call, negated: boolean, outermost: boolean): WhereCondition {
    const [first, second] = part.arguments
    const requested = part.name === 'isEmpty' ? 1 : 2
    const known = part.name === 'contains' || part.name === 'startsWith' || part.name === 'search'
    if ((!known && part.name !== 'isEmpty') || !first || first.kind === 'arrow' || second?.kind === 'arrow')
      return this.#refuse(refusalOf(part), part)
    // Said by the check of types.
    if (part.arguments.length !== requested) return never
    if (part.name === 'contains' && second && !this.#usesDocument(first) && this.#usesDocument(second)) {
      const read = this.#cased(second)
      const field = this.#field(read.part)
      if (field === undefined) return never
      return { kind: 'among', field, value: this.#operand(first, outermost), negated, ...read.caseless }
    }
    if (!this.#usesDocument(first))
      return this.#refuse(`The first argument of ${part.name} must be a field of doc.`, first)
    const whole = part.name === 'search' && isDocument(first)
    const read = this.#cased(first)
    if (read.caseless && part.name !== 'contains' && part.name !== 'startsWith')
      return this.#refuse(`${part.name} takes no notice of case: name the field alone.`, first)
    const field = whole ? undefined : this.#field(read.part)
    if (!whole && field === undefined) return never
    if (field !== undefined && part.name === 'isEmpty') return { kind: 'empty', field, negated }
    if (!second) return never
    if (this.#usesDocument(second))
      return this.#refuse(`The second argument of ${part.name} cannot be of doc: give a value.`, second)
    const value = this.#operand(second, outermost)
    if (part.name === 'search')
      return { kind: 'search', fields: field === undefined ? [] : [field], value, negated }
    if (field === undefined || part.name === 'isEmpty') return never
    const kind = part.name === 'contains' ? 'contains' : 'startsWith'
    return { kind, field, value, negated, ...read.caseless }
  }

  #operand(part: Expression, outermost: boolean): Operand {
    if (part.kind !== 'call' || part.name !== 'maybe') {
      this.#refuseCalls(part)
      return { part, maybe: false }
    }
    const [value] = part.arguments
    if (!this.#options.maybe)
      this.#refuse('maybe cannot be used here: an empty value would leave the comparison out.', part.at)
    else if (!outermost)
      this.#refuse('maybe can be used only in a comparison that && joins with everything else.', part.at)
    if (!value || value.kind === 'arrow') return { part, maybe: true }
    this.#refuseCalls(value)
    return { part: value, maybe: true }
  }

  /** What is read of the document: `doc.name` of `lower(doc.name)`, whose case does not count. */
  #cased(part: Expression): { readonly part: Expression; readonly caseless?: { readonly caseless: true } } {
    if (part.kind !== 'call' || !changesCase.has(part.name)) return { part }
    const [of, ...more] = part.arguments
    if (of === undefined || of.kind === 'arrow' || more.length > 0) return { part }
    return documentField(of)?.path === undefined ? { part } : { part: of, caseless: { caseless: true } }
  }

  #field(part: Expression): string | undefined {
    const field = documentField(part)
    if (field?.path !== undefined) return field.path
    if (field) this.#refuse(field.problem, field.at)
    else this.#refuse(refusalOf(part), part)
    return undefined
  }

  #refuse(message: string, { start, end }: Place): WhereCondition {
    this.problems.push({ message, start, end })
    return never
  }

  /** What only a where knows has no meaning in a value of the run. */
  #refuseCalls(part: Part): void {
    if (part.kind === 'call' && part.name === 'maybe')
      this.#refuse('maybe must be all that stands on its side of a comparison with doc.', part.at)
    if (part.kind === 'call' && part.name === 'search')
      this.#refuse('The first argument of search must be doc or a field of it.', part.at)
    for (const one of partsOf(part)) this.#refuseCalls(one)
  }

  #usesDocument(part: Part): boolean {
    const known = this.#withDocument.get(part)
    if (known !== undefined) return known
    const uses =
      part.kind === 'name' ? isDocument(part) : partsOf(part).some((one) => this.#usesDocument(one))
    this.#withDocument.set(part, uses)
    return uses
  }
}

const never: WhereCondition = { kind: 'never', negated: false }

function isComparison(operator: Binary['operator']): operator is Asked {
  return Object.hasOwn(flipped, operator)
}
