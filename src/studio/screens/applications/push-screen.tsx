import { Alert, Button, Group, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { Push } from '../../../shared/api/blueprints/applications.ts'
import { meQuery } from '../../api/account.ts'
import { approval, endPush, pushQuery } from '../../api/applications.ts'
import { Facts } from '../../controls/facts.tsx'
import { useTabTitle } from '../../controls/hooks.ts'
import { notifyDone } from '../../controls/notify.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { ErrorNotice, FailedScreen, LoadingScreen } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { applicationsTexts } from '../../texts/applications.ts'
import type { ScreenProps } from '../screen-props.ts'
import classes from './release-plan.module.css'
import { PlanLines, ReleasePlanView } from './release-plan.tsx'

const applications = '/blueprints/applications'
const parent = { href: applications, label: applicationsTexts.applications } as const

/** A push that a second person approves or rejects: its plan, and who has decided. */
export function PushScreen({ params: { guid = '' } }: ScreenProps) {
  const { data, error, refetch } = useQuery(pushQuery(guid))
  const title = data === undefined ? applicationsTexts.pushes : titleOf(data)
  useTabTitle(title)
  if (error)
    return (
      <FailedScreen
        error={error}
        title={applicationsTexts.couldNotLoadPush}
        parent={parent}
        onRetry={refetch}
      />
    )
  if (data === undefined) return <LoadingScreen />
  return <Opened push={data} title={title} />
}

function titleOf({ application, release, is_removal: isRemoval }: Push): string {
  return isRemoval ? applicationsTexts.removalOf(application) : applicationsTexts.pushOf(application, release)
}

function Opened({ push, title }: { readonly push: Push; readonly title: string }) {
  const { status, by, until, decided_by: decidedBy, comment, plan } = push
  const { data: me } = useQuery(meQuery)
  const isOpen = status === 'waiting' || status === 'approved'
  const isOwn = me !== undefined && me._meta.guid === by.guid
  return (
    <>
      <ScreenHead title={title} about={applicationsTexts.pushBy(by.username)} parent={parent} />
      <Stack gap="md">
        <Alert
          color={status === 'released' ? 'petrol' : isOpen ? 'sand' : 'gray'}
          variant="light"
          title={applicationsTexts.pushStates[status]}
        >
          {applicationsTexts.pushMeaning[status]}
        </Alert>
        <div className={`surface ${classes.panel}`}>
          <Facts
            facts={{
              [applicationsTexts.by]: by.username,
              ...(isOpen && { [applicationsTexts.expires]: <Time at={until} exact /> }),
              ...(decidedBy !== null && { [applicationsTexts.decidedBy]: decidedBy.username }),
              ...(comment !== '' && { [applicationsTexts.comment]: comment }),
            }}
          />
        </div>
        {push.verified === undefined ? null : <Compared verified={push.verified} />}
        <section className={`surface ${classes.panel}`} aria-label={applicationsTexts.plan}>
          <Title order={2} size="h4" mb="xs">
            {applicationsTexts.plan}
          </Title>
          {isOpen && !isOwn && me !== undefined ? <Decision push={push} /> : <PlanLines plan={plan} />}
          {isOpen && isOwn ? <Withdraw guid={push.guid} /> : null}
        </section>
      </Stack>
    </>
  )
}

/** Of the push, before it began to wait. */
function Compared({ verified }: { readonly verified: NonNullable<Push['verified']> }) {
  const lines = verified.map(applicationsTexts.verifiedBefore)
  return (
    <section className={`surface ${classes.panel}`} aria-label={applicationsTexts.compared}>
      <Title order={2} size="h4" mb="xs">
        {applicationsTexts.compared}
      </Title>
      {(lines.length > 0 ? lines : [applicationsTexts.nothingCompared]).map((line) => (
        <Text key={line} size="sm">
          {line}
        </Text>
      ))}
    </section>
  )
}

/** With the plan that is approved: no other one is released. */
function Decision({ push }: { readonly push: Push }) {
  const [, go] = useLocation()
  const { application, guid, is_removal: isRemoval } = push
  return (
    <Stack gap="md">
      <ReleasePlanView
        of={approval(push)}
        action={applicationsTexts.approve}
        isFinal
        onDone={() => go(isRemoval ? applications : `${applications}/${application}`)}
      />
      <Reject guid={guid} />
    </Stack>
  )
}

function Reject({ guid }: { readonly guid: string }) {
  const [comment, setComment] = useState('')
  const reject = useMutation({
    mutationFn: () => endPush(guid, 'reject', comment),
    onSuccess: () => notifyDone(applicationsTexts.rejected),
  })
  return (
    <Stack gap="xs">
      <ErrorNotice error={reject.error} />
      <Group gap="xs" align="flex-end" justify="flex-end">
        <TextInput
          label={applicationsTexts.comment}
          description={applicationsTexts.rejectHelp}
          maxLength={2_000}
          value={comment}
          onChange={(event) => setComment(event.currentTarget.value)}
          style={{ flex: '1 1 16rem' }}
        />
        <Button variant="default" loading={reject.isPending} onClick={() => reject.mutate()}>
          {applicationsTexts.reject}
        </Button>
      </Group>
    </Stack>
  )
}

function Withdraw({ guid }: { readonly guid: string }) {
  const withdraw = useMutation({
    mutationFn: () => endPush(guid, 'withdraw', ''),
    onSuccess: () => notifyDone(applicationsTexts.withdrawn),
  })
  return (
    <Stack gap="xs" mt="md">
      <Text size="sm">{applicationsTexts.ownPush}</Text>
      <ErrorNotice error={withdraw.error} />
      <Group justify="flex-end">
        <Button variant="default" loading={withdraw.isPending} onClick={() => withdraw.mutate()}>
          {applicationsTexts.withdraw}
        </Button>
      </Group>
    </Stack>
  )
}
