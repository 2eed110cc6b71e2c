import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { User } from '../../shared/api/people/users.ts'
import { search } from '../api/request.ts'

interface UserSelectProps {
  readonly label: string
  readonly placeholder: string
  /** Guid; empty: no user. */
  readonly value: string
  readonly onChange: (guid: string) => void
}

/** Chooses one of the users, found by what is typed. */
export function UserSelect({ label, placeholder, value, onChange }: UserSelectProps) {
  const [typed, setTyped] = useState('')
  const [words] = useDebouncedValue(typed, 200)
  const { data } = useQuery({
    queryKey: ['users', 'select', words],
    queryFn: ({ signal }) =>
      search<User>('/users/search', { ...(words === '' ? {} : { query: `${words}*` }), limit: 20 }, signal),
    placeholderData: keepPreviousData,
    retry: false,
  })
  const users = data?.records ?? []
  return (
    <Select
      label={label}
      placeholder={placeholder}
      searchable
      clearable
      w={220}
      searchValue={typed}
      onSearchChange={setTyped}
      data={users.map((user) => ({ value: user._meta.guid, label: user.username }))}
      filter={({ options }) => options}
      value={value === '' ? null : value}
      onChange={(guid) => onChange(guid ?? '')}
    />
  )
}
