/** Large OpenAPI documents that others have published, as packages have them. */
import { createRequire } from 'node:module'

/** `file`: its path. `operations`: how many it has. */
export const publicDocuments: readonly (readonly [name: string, file: () => string, operations: number])[] = [
  ['Directus', fileOf('@directus/specs/dist/openapi.json'), 136],
  ['Ideal Postcodes', fileOf('@ideal-postcodes/openapi/dist/openapi.json'), 31],
  ['Dialogporten', fileOf('@digdir/dialogporten-schema/swagger.verified.json'), 44],
  ['ReadMe', fileOf('@readme/oas-examples/3.1/json/readme.json'), 54],
  ['Star Trek', fileOf('@readme/oas-examples/3.0/json/star-trek.json'), 120],
]

function fileOf(name: string) {
  return () => {
    try {
      return createRequire(import.meta.url).resolve(name)
    } catch {
      // A package may name the files that others import.
      return new URL(`../node_modules/${name}`, import.meta.url).pathname
    }
  }
}
