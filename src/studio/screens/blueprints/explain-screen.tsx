import { Alert, Anchor, Badge, Button, Group, Select, Stack, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Link, useSearchParams } from 'wouter'
import type { Explanation } from '../../../shared/api/blueprints/blueprints.ts'
import type { User } from '../../../shared/api/people/users.ts'
import { explain } from '../../api/blueprints.ts'
import { search } from '../../api/request.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { ErrorNotice } from '../../controls/states.tsx'
import { ScopeBadge } from '../../controls/tags.tsx'
import { blueprintsTexts } from '../../texts/blueprints.ts'

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD']

/** Why an endpoint answers or is 404. Callers see the same 404 for all reasons; this screen shows the reason. */
export function ExplainScreen() {
  const [words, setWords] = useSearchParams()
  const asked = askedIn(words)
  const [method, setMethod] = useState(asked.method)
  const [path, setPath] = useState(asked.path)
  const [user, setUser] = useState(asked.user)
  const answer = useQuery({
    queryKey: ['blueprints', 'explain', asked],
    queryFn: () => explain(asked.method, asked.path, asked.user),
    enabled: asked.path !== '',
    staleTime: 0,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const next = new URLSearchParams({ method, path, ...(user === '' ? {} : { user }) })
    if (next.toString() === words.toString()) void answer.refetch()
    else setWords(next)
  }
  return (
    <>
      <ScreenHead title={blueprintsTexts.why404} about={blueprintsTexts.why404About} />
      <form onSubmit={submit}>
        <Group align="flex-end" gap="sm" mb="md">
          <Select
            label={blueprintsTexts.method}
            data={methods}
            value={method}
            onChange={(one) => setMethod(one ?? 'GET')}
            w={110}
            allowDeselect={false}
          />
          <TextInput
            label={blueprintsTexts.path}
            placeholder="/api/v1/tasks"
            required
            value={path}
            onChange={(event) => setPath(event.currentTarget.value)}
            style={{ flex: '1 1 260px' }}
          />
          <UserSelect
            label={blueprintsTexts.caller}
            placeholder={blueprintsTexts.anonymous}
            value={user}
            onChange={setUser}
          />
          <Button type="submit" loading={answer.isFetching}>
            {blueprintsTexts.explain}
          </Button>
        </Group>
      </form>
      <div aria-live="polite">
        {answer.error ? <ErrorNotice error={answer.error} /> : null}
        {answer.data ? <Answer answer={answer.data} /> : null}
      </div>
    </>
  )
}

function askedIn(words: URLSearchParams) {
  return {
    method: words.get('method') ?? 'GET',
    path: words.get('path') ?? '',
    user: words.get('user') ?? '',
  }
}

function Answer({
  answer: { reachable, reason, blueprint, block, scopes },
}: {
  readonly answer: Explanation
}) {
  return (
    <Alert color={reachable ? 'green' : 'sand'} title={reachable ? blueprintsTexts.reachable : '404'}>
      <Stack gap="xs">
        <Text size="sm">{reason}</Text>
        {blueprint ? (
          <Group gap="xs">
            <Anchor
              component={Link}
              href={`/blueprints/${blueprint.guid}${block === undefined ? '' : `?block=${block}`}`}
              size="sm"
            >
              {blueprint.name}
            </Anchor>
            <Badge color={blueprint.active ? 'green' : 'gray'}>
              {blueprint.active ? blueprintsTexts.active : blueprintsTexts.inactive}
            </Badge>
          </Group>
        ) : null}
        {scopes && scopes.length > 0 ? (
          <Group gap={6}>
            <Text size="sm">{blueprintsTexts.openTo}</Text>
            {scopes.map((scope) => (
              <ScopeBadge key={scope} scope={scope} />
            ))}
          </Group>
        ) : null}
      </Stack>
    </Alert>
  )
}

interface UserSelectProps {
  readonly label: string
  readonly placeholder: string
  /** Guid; empty: no user. */
  readonly value: string
  readonly onChange: (guid: string) => void
}

/** Chooses one of the users, found by what is typed. */
function UserSelect({ label, placeholder, value, onChange }: UserSelectProps) {
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
