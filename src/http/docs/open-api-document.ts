/** The parts of an OpenAPI 3.1 document that we write and read. A schema is JSON Schema 2020-12. */
export interface ApiDocument {
  readonly openapi: string
  readonly info: { readonly title: string; readonly version: string; readonly description?: string }
  readonly tags?: readonly ApiTag[]
  readonly paths: ApiPaths
  readonly components?: { readonly schemas?: Readonly<Record<string, ApiSchema>> } & Readonly<
    Record<string, unknown>
  >
}

export interface ApiTag {
  readonly name: string
  readonly description?: string
}

/** Path (`/api/v1/tasks/{guid}`) → method in lower case → operation. */
export type ApiPaths = Readonly<Record<string, Readonly<Record<string, ApiOperation>>>>

export interface ApiOperation {
  readonly operationId?: string
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly parameters?: readonly ApiParameter[]
  readonly requestBody?: { readonly required?: boolean; readonly content: ApiContent }
  readonly responses: Readonly<Record<string, ApiResponse>>
  /** Absent or empty: public. */
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
}

export interface ApiParameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header' | 'cookie'
  readonly required?: boolean
  readonly description?: string
  readonly schema?: ApiSchema
}

export interface ApiResponse {
  readonly description: string
  readonly content?: ApiContent
  readonly headers?: Readonly<Record<string, { readonly description?: string; readonly schema?: ApiSchema }>>
}

export type ApiContent = Readonly<Record<string, { readonly schema?: ApiSchema }>>

export interface ApiSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly title?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, ApiSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | ApiSchema
  readonly patternProperties?: Readonly<Record<string, ApiSchema>>
  readonly items?: ApiSchema
  readonly anyOf?: readonly ApiSchema[]
  readonly oneOf?: readonly ApiSchema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  readonly format?: string
  readonly readOnly?: boolean
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly maxItems?: number
  readonly pattern?: string
}

/** What the endpoints of active blueprints add. */
export interface ExtraPaths {
  /** Shown before the management endpoints. */
  readonly tags: readonly ApiTag[]
  readonly paths: ApiPaths
  /** Named schemas that the paths point to. */
  readonly schemas?: Readonly<Record<string, ApiSchema>>
}

/**
 * The whole document: the endpoints of blueprints first, then ours. Blueprints cannot register a path of ours, so
 * neither hides the other.
 */
export function withExtraPaths(document: ApiDocument, extra: ExtraPaths): ApiDocument {
  return {
    ...document,
    tags: [...extra.tags, ...(document.tags ?? [])],
    paths: { ...extra.paths, ...document.paths },
    ...(extra.schemas && {
      components: {
        ...document.components,
        schemas: { ...extra.schemas, ...document.components?.schemas },
      },
    }),
  }
}

/** The names of all operations. */
export function operationIdsOf({ paths }: ApiDocument): ReadonlySet<string> {
  const operations = Object.values(paths).flatMap((item) => Object.values(item))
  return new Set(operations.flatMap(({ operationId }) => operationId ?? []))
}

/** The schema itself where one only points to it. Only our own components are pointed to. */
export function resolved(schema: ApiSchema, document: ApiDocument): ApiSchema {
  const name = schema.$ref?.replace('#/components/schemas/', '')
  return name === undefined ? schema : (document.components?.schemas?.[name] ?? {})
}
