import { isJsonObject, type JsonObject, type JsonValue } from '../../shared/json.ts'

/** Why a document cannot be used, as a sentence for the person who has given it. */
export class DocumentProblem extends Error {}

/** References from one to the next, and schemas in schemas: more is a mistake or an attack. */
const MOST_STEPS = 50
/** Objects and lists in each other, before references. */
const MOST_DEPTH = 200

/** A JSON value of the document, and the place where a reference has led. */
export interface Resolved {
  readonly value: JsonValue | undefined
  /** The last reference, such as `#/components/schemas/Pet`; undefined where there was none. */
  readonly ref: string | undefined
}

/** An OpenAPI document. Nothing that it refers to outside of itself is ever opened. */
export class ApiDocument {
  readonly root: JsonObject

  /** Throws DocumentProblem. */
  constructor(text: string) {
    const root = parsed(text)
    if (!isJsonObject(root)) throw new DocumentProblem('The document is not an OpenAPI document: no object.')
    const { openapi, swagger } = root
    if (typeof swagger === 'string')
      throw new DocumentProblem(
        `The document is of Swagger ${swagger.slice(0, 10)}. Convert it to OpenAPI 3.0 or 3.1 first.`,
      )
    if (typeof openapi !== 'string' || !/^3\.[01](?:\.|$)/.test(openapi))
      throw new DocumentProblem('The document does not say "openapi": "3.0…" or "3.1…".')
    checkDepth(root)
    this.root = root
  }

  /** Follows references. Throws DocumentProblem for one that leads outside or nowhere, or in a circle. */
  resolve(value: JsonValue | undefined): Resolved {
    let found = value
    let ref: string | undefined
    for (let steps = 0; isJsonObject(found) && typeof found.$ref === 'string'; steps += 1) {
      ref = found.$ref
      if (steps === MOST_STEPS) throw new DocumentProblem(`The reference ${shown(ref)} leads in a circle.`)
      found = this.at(ref)
    }
    return { value: found, ref }
  }

  object(value: JsonValue | undefined): JsonObject | undefined {
    const { value: found } = this.resolve(value)
    return isJsonObject(found) ? found : undefined
  }

  /** By reference: large documents have thousands of references to the same few hundred places. */
  readonly #places = new Map<string, JsonValue>()

  at(ref: string): JsonValue {
    const known = this.#places.get(ref)
    if (known !== undefined) return known
    const found = this.#find(ref)
    this.#places.set(ref, found)
    return found
  }

  #find(ref: string): JsonValue {
    if (!ref.startsWith('#'))
      throw new DocumentProblem(
        `The document refers to ${shown(ref)}, which is outside of it and is not opened. Bundle the document into one file first.`,
      )
    let found: JsonValue | undefined = this.root
    for (const part of ref.slice(1).split('/').slice(1)) {
      const name = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~')
      if (Array.isArray(found)) found = found[Number(name)]
      else found = isJsonObject(found) && Object.hasOwn(found, name) ? found[name] : undefined
    }
    if (found === undefined) throw new DocumentProblem(`The reference ${shown(ref)} leads nowhere.`)
    return found
  }
}

function parsed(text: string): JsonValue {
  try {
    // Some tools begin a file with a byte order mark.
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    throw new DocumentProblem('The document is not JSON.')
  }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

function shown(ref: string): string {
  return JSON.stringify(ref.slice(0, 120))
}

/** What follows walks the document by recursion. */
function checkDepth(root: JsonObject): void {
  let level: readonly JsonValue[] = [root]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MOST_DEPTH)
      throw new DocumentProblem(`The document has more than ${MOST_DEPTH} objects in each other.`)
    level = level.flatMap((one) =>
      Array.isArray(one) || isJsonObject(one)
        ? Object.values(one).filter((inner) => typeof inner === 'object' && inner !== null)
        : [],
    )
  }
}
