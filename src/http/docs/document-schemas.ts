import type { FieldsOf } from '../../shared/field-rule.ts'
import type { ApiSchema } from './open-api-document.ts'

/** Schemas of the documents of storages under names of their own, so that generated clients have a type for each. */
export interface DocumentSchemas {
  readonly fieldsOf: FieldsOf
  /** A reference to the document's schema; `make` is called at the first one. */
  named(storage: string, make: () => ApiSchema): ApiSchema
  /** Those that were named so far. */
  readonly schemas: Readonly<Record<string, ApiSchema>>
}

export function documentSchemas(fieldsOf: FieldsOf): DocumentSchemas {
  const names = new Map<string, string>()
  const schemas: Record<string, ApiSchema> = {}
  return {
    fieldsOf,
    schemas,
    named(storage, make) {
      let name = names.get(storage)
      if (name === undefined) {
        name = freeName(storage, schemas)
        names.set(storage, name)
        schemas[name] = make()
      }
      return { $ref: `#/components/schemas/${name}` }
    },
  }
}

/** `open_tasks` becomes `OpenTasksDocument`; a second storage of such a name `OpenTasksDocument2`. */
function freeName(storage: string, taken: Readonly<Record<string, ApiSchema>>): string {
  const words = storage.split(/[^A-Za-z0-9]+/).filter((word) => word !== '')
  const name = `${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}Document`
  for (let number = 1; ; number++) {
    const one = number === 1 ? name : `${name}${number}`
    if (!Object.hasOwn(taken, one)) return one
  }
}
