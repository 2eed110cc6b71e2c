import type { FieldRule } from '../../shared/field-rule.ts'

/** Whether values of the field are files that were uploaded. */
export function isFileRule({ type }: Pick<FieldRule, 'type'>): boolean {
  return type === 'file' || type === 'files'
}
