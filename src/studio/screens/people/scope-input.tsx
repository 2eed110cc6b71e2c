import { TagsInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { managementScopes } from '../../../shared/management-scopes.ts'
import { groupsQuery } from '../../api/people.ts'

interface ScopeInputProps {
  readonly label: string
  readonly description?: string
  readonly value: readonly string[]
  readonly error: string | undefined
  readonly onChange: (scopes: string[]) => void
}

/** Names of scopes: those that are known are offered, any other can be typed. */
export function ScopeInput({ label, description, value, error, onChange }: ScopeInputProps) {
  const { data: groups = [] } = useQuery({ ...groupsQuery, retry: false })
  const used = groups.flatMap((group) => group.scopes)
  return (
    <TagsInput
      label={label}
      description={description}
      data={[...new Set(['*', ...used, ...managementScopes])]}
      maxDropdownHeight={240}
      clearable
      value={[...value]}
      error={error}
      onChange={onChange}
    />
  )
}
