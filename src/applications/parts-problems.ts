import { Compile } from 'typebox/compile'
import { checkGroupInput } from '../access/group-changes.ts'
import { checkedField } from '../records/fields/checked-field.ts'
import { checkedConstraints } from '../records/fields/constraints.ts'
import { fieldExpressionProblem } from '../records/fields/field-expression.ts'
import { fieldDefaults } from '../records/fields/field-records.ts'
import { ruleOf } from '../records/fields/field-rules.ts'
import { scopeOf } from '../records/permissions/reference-query.ts'
import { checkedRules } from '../records/permissions/storage-rules.ts'
import { createFieldSchema } from '../shared/api/blueprints/blueprint-fields.ts'
import { createTemplateSchema } from '../shared/api/blueprints/templates.ts'
import { createStorageSchema } from '../shared/api/data/storages.ts'
import { createGroupSchema } from '../shared/api/people/users.ts'
import {
  type ApplicationParts,
  bodyOfPart,
  nameOfPart,
  type PartKind,
  partKinds,
} from '../shared/application/application-parts.ts'
import { invalidField, QuoinError } from '../shared/errors.ts'
import { fieldValueProblem, isAutomatic } from '../shared/field-rule.ts'
import type { JsonObject } from '../shared/json.ts'
import { patternBudget } from '../shared/texts/pattern-budget.ts'

import { type References, referencesIn } from '../storage/reference/references.ts'
import { isOwnStorage, storageNameProblem } from '../storage/system-storages.ts'

/** What the API takes to make a part. */
const schemas = {
  groups: Compile(createGroupSchema),
  storages: Compile(createStorageSchema),
  fields: Compile(createFieldSchema),
  templates: Compile(createTemplateSchema),
} as const

/** What an import would refuse of the parts of a file, as far as the file alone shows it. A line each. */
export function partsProblems(parts: ApplicationParts): readonly string[] {
  const references = referencesOf(parts)
  return partKinds.flatMap((kind) =>
    parts[kind].flatMap((part) => {
      const problem = partProblem(kind, part, references)
      if (problem === undefined) return []
      const line = `${problem.path.join('.')} ${problem.message}`.trimStart()
      return [`${nameOfPart(kind, part)}: ${problem.isShape ? line : problem.message}`]
    }),
  )
}

export interface PartProblem {
  /** Names of the fields of the part that lead to what is wrong. */
  readonly path: readonly string[]
  readonly message: string
  /** The message needs the path before it. */
  readonly isShape: boolean
}

/** Of all fields of a file, through which rules of its storages may lead. */
export function referencesOf({ fields }: ApplicationParts): References {
  return referencesIn(fields.flatMap((field) => ruleOf({ ...fieldDefaults, ...field }) ?? []))
}

/** `references`: those of the whole file, read once: read for each storage, 200 storages of 50 fields took 12 s. */
export function partProblem(
  kind: PartKind,
  part: JsonObject,
  references: References,
): PartProblem | undefined {
  if (
    part.was !== undefined &&
    (kind !== 'fields' || typeof part.was !== 'string' || part.was === part.name)
  ) {
    const message = 'was is the former name of a field: a text that is not its name.'
    return { path: ['was'], message, isShape: false }
  }
  const conversion = kind === 'fields' ? conversionProblem(part) : undefined
  if (conversion) return { ...conversion, isShape: false }
  const body = bodyOfPart(part)
  const schema = schemas[kind]
  if (!schema.Check(body)) {
    const [first] = schema.Errors(body)
    const path = (first?.instancePath ?? '').split('/').slice(1)
    return { path, message: `${first?.message}.`, isShape: true }
  }
  try {
    // Those of templates are no errors: a page is shown without what does not fit.
    if (kind === 'fields') checkedField({ ...fieldDefaults, ...body })
    if (kind === 'storages') checkStorage(body, references)
    if (kind === 'groups') checkGroupInput(body)
    return undefined
  } catch (error) {
    if (!(error instanceof QuoinError)) throw error
    return { path: error.fields?.[0]?.split('.') ?? [], message: error.message, isShape: false }
  }
}

/** Of `fill` and `convert`, as far as the rest of the field can be read. */
function conversionProblem(field: JsonObject): Omit<PartProblem, 'isShape'> | undefined {
  const rule = ruleOf({ ...fieldDefaults, ...bodyOfPart(field) })
  const { convert, fill } = field
  if (convert === undefined && fill === undefined) return undefined
  const word = convert === undefined ? 'fill' : 'convert'
  if (rule && isAutomatic(rule))
    return {
      path: [word],
      message: `${word} is for fields that have a value of their own: this one is written by Quoin.`,
    }
  if (convert !== undefined && (typeof convert !== 'string' || !convert.startsWith('=')))
    return {
      path: ['convert'],
      message: 'convert must be an expression over value and doc, such as "=number(value)".',
    }
  for (const [path, text] of Object.entries({ convert, fill })) {
    if (!rule || typeof text !== 'string' || !text.startsWith('=')) continue
    const wrong = fieldExpressionProblem(text.slice(1), 'conversion', rule.type)
    if (wrong !== undefined) return { path: [path], message: `${path}: ${wrong}` }
  }
  if (!rule || fill === undefined || (typeof fill === 'string' && fill.startsWith('='))) return undefined
  const misfit = fieldValueProblem(rule, fill, patternBudget())
  return misfit === undefined ? undefined : { path: ['fill'], message: `fill ${misfit}.` }
}

function checkStorage({ name, rules, constraints }: JsonObject, references: References): void {
  const text = String(name)
  const problem = isOwnStorage(text)
    ? 'must not start with _: those storages belong to Quoin itself'
    : storageNameProblem(text)
  if (problem) throw invalidField('name', `name ${problem}.`)
  checkedRules(rules ?? null, scopeOf(text, references))
  checkedConstraints(constraints ?? [])
}
