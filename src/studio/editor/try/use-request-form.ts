import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { BlockContent } from '../../../shared/blueprint.ts'
import { RESOURCE_TYPE } from '../../../shared/resource/resource.ts'
import { fieldsQuery } from '../../api/storages.ts'
import { inPinOf } from '../model/flow.ts'
import { type FormFields, formOf } from './request-form.ts'

/** The fields of an endpoint's form. Those of a storage are missing where the user may not see its fields. */
export function useRequestForm(content: BlockContent | undefined, method: string, uri: string): FormFields {
  const isResource = content?.type === RESOURCE_TYPE && (method === 'POST' || method === 'PUT')
  const schema = isResource ? inPinOf(content, 'storage')?.value : content?.fields.schema_storage
  const storage = typeof schema === 'string' ? schema : ''
  const { data: rules } = useQuery({ ...fieldsQuery(storage), enabled: storage !== '', retry: false })
  return useMemo(() => formOf(content, method, uri, rules ?? []), [content, method, uri, rules])
}
