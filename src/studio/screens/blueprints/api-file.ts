/** The blueprint that serves a storage as an API: one resource block. */

import type { FieldRecord } from '../../../shared/api/blueprints/blueprint-fields.ts'
import type { BlueprintFile } from '../../../shared/application/blueprint-file.ts'
import { fieldTypeEntries, isFieldType } from '../../../shared/fields/field-type.ts'
import {
  RESOURCE_TYPE,
  resourceOperations,
  resourceProblem,
  resourceSettingsOf,
} from '../../../shared/resource/resource.ts'
import { blueprintsTexts } from '../../texts/blueprints.ts'
import { type Access, scopesOf } from './access/application-access.ts'

export interface ApiDraft {
  readonly storage: string
  readonly uri: string
  readonly operations: readonly string[]
  /** Names of fields. */
  readonly filters: readonly string[]
  readonly orders: readonly string[]
  /** Who lists and reads, and who writes. */
  readonly access: Access
}

/** What a parameter of the query can hold. */
const parameterTypes: Readonly<Record<string, string>> = {
  text: 'text',
  number: 'number',
  condition: 'condition',
}

/** Whether a list can be filtered and sorted by the field: it has one value, and a name that a parameter can have. */
export function canFilter(field: FieldRecord): boolean {
  const filter = filterOf(field)
  if (filter === undefined || !/^[A-Za-z][A-Za-z0-9_]{0,62}$/.test(field.name)) return false
  return resourceProblem(resourceSettingsOf({ filters: [filter] })) === undefined
}

function filterOf({ name, type }: Pick<FieldRecord, 'name' | 'type'>) {
  const parameter = isFieldType(type) ? parameterTypes[fieldTypeEntries[type].value] : undefined
  return parameter === undefined ? undefined : { name, type: parameter }
}

export function apiFile(draft: ApiDraft, fields: readonly FieldRecord[]): BlueprintFile {
  const { storage, uri, operations, filters, orders, access } = draft
  const { read, write } = scopesOf(storage, access)
  const named = fields.filter(({ name }) => filters.includes(name)).flatMap((field) => filterOf(field) ?? [])
  const isAll = resourceOperations.every((one) => operations.includes(one))
  return {
    name: blueprintsTexts.api(storage),
    description: blueprintsTexts.apiDescription(storage, uri),
    blocks: {
      [blockName(storage)]: {
        type: RESOURCE_TYPE,
        in: { uri, storage },
        fields: {
          ...(!isAll && { operations: [...operations] }),
          ...(named.length > 0 && { filters: named }),
          ...(orders.length > 0 && { orders: [...orders] }),
          // Without it those who list and read also write.
          ...(write.join() !== read.join() && { write_scopes: [...write] }),
        },
        scopes: [...read],
      },
    },
  }
}

function blockName(storage: string): string {
  return storage.replace(/[^A-Za-z0-9_]/g, '_').slice(0, 40)
}
