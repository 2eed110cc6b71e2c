import type {
  Argument,
  Binary,
  Call,
  Entry,
  Expression,
  ParsedExpression,
  Place,
  Spread,
} from '../expression.ts'
import { partsOf } from '../expression-parts.ts'
import type { ExpressionProblem } from '../expression-problem.ts'
import { documentField, isDocument } from './document-field.ts'
import type { Comparison, Operand, WhereCondition } from './where-condition.ts'
import { alwaysTrue, refusalOf } from './where-refusal.ts'

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
    const wanted = part.name === 'isEmpty' ? 1 : 2
    const known = part.name === 'contains' || part.name === 'startsWith' || part.name === 'search'
    if ((!known && part.name !== 'isEmpty') || !first || first.kind === 'arrow' || second?.kind === 'arrow')
      return this.#refuse(refusalOf(part), part)
    // Said by the check of types.
    if (part.arguments.length !== wanted) return never
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
