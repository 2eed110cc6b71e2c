import { Anchor, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Link, useLocation, useSearchParams } from 'wouter'
import { placeOfNewestFailure, placeOfRun } from '../../../api/run-place.ts'
import { EmptyState } from '../../../controls/empty-state.tsx'
import { ErrorNotice } from '../../../controls/error-notice.tsx'
import { LoadingScreen } from '../../../controls/loading-screen.tsx'
import { notifyAbout } from '../../../controls/notify.ts'
import { ScreenHead } from '../../../controls/screen-head.tsx'
import type { ScreenProps } from '../../screen-props.ts'

/**
 * Goes on to the canvas: to a run by its guid, as log records and jobs have it, or under `failed` to the newest run that failed,
 * of `?blueprint=` and `?trigger=` or of all.
 */
export function RunScreen({ params: { run = '' } }: ScreenProps) {
  const [words] = useSearchParams()
  const [, navigate] = useLocation()
  const blueprint = words.get('blueprint') ?? ''
  const trigger = words.get('trigger') ?? ''
  const isNewest = run === 'failed'
  const { data, error, refetch } = useQuery({
    queryKey: ['run-place', run, blueprint, trigger],
    queryFn: async ({ signal }) =>
      (isNewest ? await placeOfNewestFailure(blueprint, trigger, signal) : await placeOfRun(run, signal)) ??
      null,
    gcTime: 0,
    retry: false,
  })
  useEffect(() => {
    if (!data) return
    if (!data.isKept)
      notifyAbout('The values of this run are not kept', 'The block that failed is shown without them.')
    navigate(data.address, { replace: true })
  }, [data, navigate])
  if (error) return <ErrorNotice error={error} title="Could not find the run" onRetry={refetch} />
  if (data !== null) return <LoadingScreen />
  return (
    <>
      <ScreenHead
        title="Run"
        about="Failed runs are kept for a day: the last 50 of a blueprint, ten a second."
      />
      <EmptyState icon="operate" title={isNewest ? 'No failed run is kept' : 'This run is not kept'}>
        <Text size="sm">What runs logged is kept for 30 days.</Text>
        <Anchor
          component={Link}
          size="sm"
          href={`/operate/system-log?level=error${blueprint === '' ? '' : `&blueprint=${blueprint}`}`}
        >
          Errors in the system log
        </Anchor>
      </EmptyState>
    </>
  )
}
