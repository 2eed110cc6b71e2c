import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useLocation } from 'wouter'
import type { Blueprint } from '../../shared/api/blueprints/blueprints.ts'
import type { StorageRecord } from '../../shared/api/data/storages.ts'
import { search } from '../api/request.ts'
import { shellTexts } from '../texts/shell.ts'
import type { Command } from './commands.ts'

/** Blueprints and storages whose names begin with what is typed. Who may not see them finds none. */
export function useFoundRecords(typed: string): readonly Command[] {
  const [, go] = useLocation()
  const [words] = useDebouncedValue(typed.trim(), 150)
  const body = { query: `${words.replace(/["()|*~+-]/g, ' ').trim()}*`, limit: 8 }
  const enabled = words.length > 1
  const blueprints = useQuery({
    queryKey: ['palette', 'blueprints', words],
    queryFn: ({ signal }) => search<Blueprint>('/blueprints/search', body, signal),
    enabled,
    retry: false,
  })
  const storages = useQuery({
    queryKey: ['palette', 'storages', words],
    queryFn: ({ signal }) => search<StorageRecord>('/_system/storages/search', body, signal),
    enabled,
    retry: false,
  })
  return useMemo(
    () => [
      ...(blueprints.data?.records ?? []).map((record) => ({
        id: record._meta.guid,
        label: record.name,
        group: shellTexts.blueprints,
        run: () => go(`/blueprints/${record._meta.guid}`),
      })),
      ...(storages.data?.records ?? []).map((record) => ({
        id: record._meta.guid,
        label: record.name,
        group: shellTexts.storages,
        run: () => go(`/data/storages/${record._meta.guid}`),
      })),
    ],
    [blueprints.data, storages.data, go],
  )
}
