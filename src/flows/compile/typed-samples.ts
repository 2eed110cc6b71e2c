import {
  anyType,
  commonType,
  conditionType,
  nothingType,
  numberType,
  type ObjectType,
  objectType,
  textType,
  type ValueType,
} from '../../expressions/language/value-types.ts'
import { isJsonObject, type JsonObject } from '../../shared/json.ts'

/** A key that no field has: its number says which type the object was made of, also after a block has copied it. */
const MADE_OF = '(made of)'

/** Samples of types for blocks that make values of them, and the types of what they make. */
export class TypedSamples {
  readonly #made = new Map<ValueType, unknown>()
  readonly #numbered: (ObjectType | typeof anyType)[] = []
  readonly #types = new Map<object, ValueType>()

  of(type: ValueType): unknown {
    switch (type.kind) {
      case 'text':
        return 'x'
      case 'number':
      case 'whole':
        return 1
      case 'condition':
        return true
      case 'nothing':
        return null
      default: {
        const sample =
          this.#made.get(type) ?? (type.kind === 'list' ? [this.of(type.of)] : this.#objectOf(type))
        this.#made.set(type, sample)
        return sample
      }
    }
  }

  #objectOf(type: ObjectType | typeof anyType): object {
    const fields = type.kind === 'object' ? { ...type.copyOf?.fields, ...type.fields } : {}
    // Documents that refer to each other have no end.
    const names = Object.keys(fields).filter((name) => name !== '_expand')
    const entries = names.map((name) => [name, this.of(fields[name] ?? anyType)] as const)
    return { ...Object.fromEntries(entries), [MADE_OF]: this.#numbered.push(type) - 1 }
  }

  typeOf(sample: unknown): ValueType {
    if (sample === null || sample === undefined) return nothingType
    if (typeof sample === 'number') return numberType
    if (typeof sample === 'boolean') return conditionType
    if (typeof sample !== 'object' || sample instanceof Date)
      return typeof sample === 'function' ? anyType : textType
    const known = this.#types.get(sample)
    if (known) return known
    const type: ValueType = Array.isArray(sample)
      ? { kind: 'list', of: commonType(sample.map((one) => this.typeOf(one))) }
      : isJsonObject(sample)
        ? this.#typeOfObject(sample)
        : anyType
    this.#types.set(sample, type)
    return type
  }

  #typeOfObject({ [MADE_OF]: number, ...sample }: JsonObject): ValueType {
    const base = typeof number === 'number' ? this.#numbered[number] : undefined
    const former = base && this.#made.get(base)
    const isSame = (name: string, value: unknown) => isJsonObject(former) && former[name] === value
    const own = Object.entries(sample).filter(([name, value]) => !isSame(name, value))
    // Nothing in a sample is mostly what only a run knows, such as a parameter in an expression.
    const fieldOf = (value: unknown) => (value === null || value === undefined ? anyType : this.typeOf(value))
    const fields = Object.fromEntries(own.map(([name, value]) => [name, fieldOf(value)]))
    if (!base) return { kind: 'object', fields, open: false }
    if (own.length === 0) return base
    if (base.kind !== 'object') return { ...objectType, fields }
    const document = base.copyOf ?? (base.stored?.path === '' ? base : undefined)
    if (!document) return { kind: 'object', fields: { ...base.fields, ...fields }, open: base.open }
    const put = base === document ? fields : { ...base.fields, ...fields }
    return { kind: 'object', fields: put, open: true, copyOf: document }
  }
}
