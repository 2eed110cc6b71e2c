import { Type } from 'typebox'
import { fileSchemaNames, fileSchemas } from '../../../applications/file-schemas.ts'
import type { BlockDescription } from '../../../shared/api/blocks/blocks.ts'
import { anyJson } from '../../../shared/api/record-schemas.ts'
import type { RouteFamily } from '../../server/route-family.ts'

/** What `$schema` of a file of an application names. Public: an editor asks without a token, and they say nothing of a cluster. */
export function fileSchemaRoutes(blocks: readonly BlockDescription[]): RouteFamily {
  let schemas: ReturnType<typeof fileSchemas> | undefined
  return (app) => {
    app.get(
      '/schemas/:name.json',
      {
        config: { permission: 'public' },
        schema: {
          operationId: 'readFileSchema',
          summary: 'JSON schema of a file of an application',
          description: 'For editors: `$schema` of each file that `quoin pull` writes names one.',
          tags: ['Applications'],
          params: Type.Object({ name: Type.Enum([...fileSchemaNames]) }),
          response: { 200: anyJson('A JSON schema.') },
        },
      },
      (request) => {
        schemas ??= fileSchemas(blocks)
        return schemas[request.params.name]
      },
    )
  }
}
