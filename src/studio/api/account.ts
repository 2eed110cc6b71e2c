import { queryOptions } from '@tanstack/react-query'
import type { DocumentSearch } from '../../shared/api/data/documents.ts'
import type { Group, User } from '../../shared/api/people/users.ts'
import type { RecordPage } from '../../shared/record-page.ts'
import { queryClient } from './query-client.ts'
import { call, search } from './request.ts'

/** Who is signed in. */
export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => call<User>('GET', '/users/me', { signal }),
  staleTime: 60_000,
})

export function findUsers(body: DocumentSearch, signal: AbortSignal): Promise<RecordPage<User>> {
  return search<User>('/users/search', body, signal)
}

export function readUser(guid: string, signal: AbortSignal): Promise<User> {
  return call<User>('GET', `/users/${guid}`, { signal })
}

export function findGroups(body: DocumentSearch, signal: AbortSignal): Promise<RecordPage<Group>> {
  return search<Group>('/_system/authentication-groups/search', body, signal)
}

export function readGroup(guid: string, signal: AbortSignal): Promise<Group> {
  return call<Group>('GET', `/_system/authentication-groups/${guid}`, { signal })
}

/** All groups: there are few. */
export const groupsQuery = queryOptions({
  queryKey: ['people', 'groups', 'all'],
  queryFn: async ({ signal }) => (await findGroups({ limit: 1000, sort: [{ name: 'asc' }] }, signal)).records,
})

/** All users, up to the thousand newest, for seeing who holds what. */
export const usersQuery = queryOptions({
  queryKey: ['people', 'users', 'all'],
  queryFn: async ({ signal }) => (await findUsers({ limit: 1000 }, signal)).records,
})

/** How many active users a group has. */
export function usersOfGroup(guid: string) {
  return queryOptions({
    queryKey: ['people', 'users', 'of', guid],
    queryFn: async ({ signal }) =>
      (await findUsers({ limit: 1, filters: { groups: guid, is_active: true } }, signal)).total,
    retry: false,
  })
}

export function forgetPeople(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ['people'] })
}
