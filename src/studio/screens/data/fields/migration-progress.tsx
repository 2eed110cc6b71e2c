import { Anchor, Progress, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { FieldRecord } from '../../../../shared/api/blueprints/blueprint-fields.ts'
import type { Job } from '../../../../shared/api/operate/queues.ts'
import { queryClient } from '../../../api/query-client.ts'
import { call } from '../../../api/request.ts'
import { notifyFailed } from '../../../controls/notify.ts'
import { fieldsTexts } from '../../../texts/fields.ts'

/** How far the stored documents have followed a change of the field. */
export function MigrationProgress({ field }: { readonly field: FieldRecord }) {
  const { migration, _meta } = field
  const { data } = useQuery({
    queryKey: ['queues', 'progress', migration?.job ?? ''],
    queryFn: ({ signal }) => call<Job>('GET', `/queue/${migration?.job}`, { signal }),
    enabled: migration !== undefined && migration !== null,
    refetchInterval: 1_000,
    retry: false,
  })
  const working = migration !== undefined && migration !== null && !migration.stopped
  useEffect(() => {
    if (!working) return undefined
    const look = setInterval(() => void queryClient.invalidateQueries({ queryKey: ['fields'] }), 1_500)
    return () => clearInterval(look)
  }, [working])
  if (!migration) return null
  const { step, stopped } = migration
  const { done = 0, total = 0, refused = 0 } = data?.progress ?? {}
  const takeBack = () =>
    call('DELETE', `/blueprintfields/${_meta.guid}/migration`).then(
      () => queryClient.invalidateQueries({ queryKey: ['fields'] }),
      (failed) => notifyFailed(fieldsTexts.couldNotTakeBack, failed),
    )
  return (
    <div role="status">
      <Text size="xs" c={stopped ? 'red' : 'dimmed'}>
        {stopped ? fieldsTexts.migrationStopped(refused) : fieldsTexts.migrating[step](migration.field)}{' '}
        {step === 'clear' ? null : (
          <Anchor component="button" type="button" size="xs" onClick={() => void takeBack()}>
            {step === 'copy' ? fieldsTexts.takeBack : fieldsTexts.endConversion}
          </Anchor>
        )}
      </Text>
      <Progress
        value={total === 0 ? 0 : (done / total) * 100}
        size="sm"
        aria-label={fieldsTexts.migrationProgress}
      />
    </div>
  )
}
