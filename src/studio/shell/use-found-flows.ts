import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useLocation } from 'wouter'
import { endpointsQuery, functionsQuery, pagesQuery } from '../api/blueprints.ts'
import { shellTexts } from '../texts/shell.ts'
import type { Command } from './commands.ts'

/** The endpoints, pages and functions of all blueprints, once something is typed. Who may not see blueprints finds none. */
export function useFoundFlows(typed: string): readonly Command[] {
  const [, go] = useLocation()
  const options = { enabled: typed.trim().length > 1, retry: false }
  const { data: endpoints } = useQuery({ ...endpointsQuery, ...options })
  const { data: pages } = useQuery({ ...pagesQuery, ...options })
  const { data: functions } = useQuery({ ...functionsQuery, ...options })
  return useMemo(() => {
    const command = (group: string, label: string, place: Place): Command => ({
      id: place.block,
      label,
      group,
      run: () => go(`/blueprints/${place.blueprint}?block=${place.block}`),
    })
    return [
      ...all(endpoints).map((one) => command(shellTexts.endpoints, `${one.method} /${one.uri}`, one)),
      ...all(pages).flatMap((one) =>
        one.path === undefined ? [] : command(shellTexts.pages, one.path, one),
      ),
      ...(functions ?? []).map((one) => command(shellTexts.functions, one.name, one)),
    ]
  }, [endpoints, pages, functions, go])
}

interface Place {
  readonly blueprint: string
  readonly block: string
}

function all<One extends Place>(found: ReadonlyMap<string, readonly One[]> | undefined): readonly One[] {
  return [...(found?.values() ?? [])].flat()
}
