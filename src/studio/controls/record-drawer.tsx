import { Drawer } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { controlsTexts } from '../texts/shell.ts'
import { useOpened } from './hooks.ts'
import { ErrorNotice, LoadingScreen } from './states.tsx'

interface RecordDrawerProps<T> {
  readonly title: string
  /** Without the guid. */
  readonly queryKey: readonly unknown[]
  readonly load: (guid: string, signal: AbortSignal) => Promise<T>
  readonly children: (record: T, close: () => void) => ReactNode
}

/** The record that the address has open, beside its list. */
export function RecordDrawer<T>({ title, queryKey, load, children }: RecordDrawerProps<T>) {
  const [guid, open] = useOpened()
  const close = () => open('')
  const { data, error, refetch } = useQuery({
    queryKey: [...queryKey, guid],
    queryFn: ({ signal }) => load(guid, signal),
    enabled: guid !== '',
  })
  return (
    <Drawer opened={guid !== ''} onClose={close} title={title}>
      {error ? <ErrorNotice error={error} title={controlsTexts.couldNotLoad} onRetry={refetch} /> : null}
      {data === undefined ? error ? null : <LoadingScreen /> : children(data, close)}
    </Drawer>
  )
}
