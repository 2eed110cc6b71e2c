import { Compile } from 'typebox/compile'
import { checkGroupInput } from '../access/group-changes.ts'
import { checkedField } from '../records/fields/checked-field.ts'
import { checkedConstraints } from '../records/fields/constraints.ts'
import { fieldDefaults } from '../records/fields/field-records.ts'
import { ruleOf } from '../records/fields/field-rules.ts'
import { scopeOf } from '../records/permissions/led-query.ts'
import { checkedRules } from '../records/permissions/storage-rules.ts'
import { createFieldSchema } from '../shared/api/blueprints/blueprint-fields.ts'
import { createTemplateSchema } from '../shared/api/blueprints/templates.ts'
import { createStorageSchema } from '../shared/api/data/storages.ts'
import { createGroupSchema } from '../shared/api/people/authentication-groups.ts'
import {
  type ApplicationParts,
  bodyOfPart,
  nameOfPart,
  type PartKind,
  partKinds,
} from '../shared/application/application-parts.ts'
import { invalidField, QuoinError } from '../shared/errors.ts'
import type { JsonObject } from '../shared/json.ts'
import { storageNameProblem } from '../storage/database.ts'
import { isOwnStorage } from '../storage/own-storages.ts'
import { referencesIn } from '../storage/reference/references.ts'

/** What the API takes to make a part. */
const schemas = {
  groups: Compile(createGroupSchema),
  storages: Compile(createStorageSchema),
  fields: Compile(createFieldSchema),
  templates: Compile(createTemplateSchema),
} as const

/** What an import would refuse of the parts of a file, as far as the file alone shows it. A line each. */
export function partsProblems(parts: ApplicationParts): readonly string[] {
  return partKinds.flatMap((kind) =>
    parts[kind].flatMap((part) => {
      const problem = partProblem(kind, part, parts)
      return problem === undefined ? [] : [`${nameOfPart(kind, part)}: ${problem}`]
    }),
  )
}

function partProblem(kind: PartKind, part: JsonObject, parts: ApplicationParts): string | undefined {
  if (part.was !== undefined && (kind !== 'fields' || typeof part.was !== 'string' || part.was === part.name))
    return 'was is the former name of a field: a text that is not its name.'
  const body = bodyOfPart(part)
  const schema = schemas[kind]
  if (!schema.Check(body)) {
    const [first] = schema.Errors(body)
    return `${(first?.instancePath ?? '').slice(1).replaceAll('/', '.')} ${first?.message}.`.trimStart()
  }
  try {
    // Those of templates are no errors: a page is shown without what does not fit.
    if (kind === 'fields') checkedField({ ...fieldDefaults, ...body })
    if (kind === 'storages') checkStorage(body, parts)
    if (kind === 'groups') checkGroupInput(body)
    return undefined
  } catch (error) {
    if (error instanceof QuoinError) return error.message
    throw error
  }
}

function checkStorage({ name, rules, constraints }: JsonObject, { fields }: ApplicationParts): void {
  const text = String(name)
  const problem = isOwnStorage(text)
    ? 'must not start with _: those storages belong to Quoin itself'
    : storageNameProblem(text)
  if (problem) throw invalidField('name', `name ${problem}.`)
  const references = referencesIn(fields.flatMap((field) => ruleOf({ ...fieldDefaults, ...field }) ?? []))
  checkedRules(rules ?? null, scopeOf(text, references))
  checkedConstraints(constraints ?? [])
}
