import { Badge, Button, Group, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useLocation } from 'wouter'
import type { User } from '../../../shared/api/people/users.ts'
import { forgetPeople, readUser } from '../../api/account.ts'
import { call } from '../../api/request.ts'
import { confirm } from '../../controls/confirm.ts'
import { Icon } from '../../controls/icon.tsx'
import { notifyDone, notifyFailed } from '../../controls/notify.ts'
import { ScreenHead } from '../../controls/screen-head.tsx'
import { FailedScreen, LoadingScreen } from '../../controls/states.tsx'
import { Time } from '../../controls/time.tsx'
import { peopleTexts } from '../../texts/people.ts'
import type { ScreenProps } from '../screen-props.ts'
import { ApiKeys } from './api-keys.tsx'
import { ResetSecondFactor } from './second-factor.tsx'
import { LinkedAccounts, Sessions } from './sessions.tsx'
import { isLocked } from './user-draft.ts'
import { UserForm } from './user-form.tsx'

const parent = { href: '/people', label: peopleTexts.users }

export function UserScreen({ params }: ScreenProps) {
  const guid = params.guid ?? ''
  const isNew = guid === 'new'
  const { data, error, refetch } = useQuery({
    queryKey: ['people', 'users', 'one', guid],
    queryFn: ({ signal }) => readUser(guid, signal),
    enabled: !isNew,
  })
  if (isNew)
    return (
      <>
        <ScreenHead title={peopleTexts.newUser} parent={parent} />
        <UserForm />
      </>
    )
  if (error)
    return (
      <FailedScreen error={error} title={peopleTexts.couldNotLoadUser} parent={parent} onRetry={refetch} />
    )
  if (!data) return <LoadingScreen />
  return (
    <>
      <ScreenHead title={data.username} parent={parent} about={<About user={data} />}>
        {isLocked(data) || (data.login_attempts ?? 0) > 0 ? (
          <Button
            variant="default"
            leftSection={<Icon name="key" size={16} />}
            onClick={() => void unlock(data)}
          >
            {peopleTexts.unlock}
          </Button>
        ) : null}
        <Button
          component={Link}
          href={`/people/users/${guid}/access`}
          variant="default"
          leftSection={<Icon name="search" size={16} />}
        >
          {peopleTexts.whatMayThisUserDo}
        </Button>
        {data.is_service ? null : <ResetSecondFactor user={data} />}
        <Invitation user={data} />
        <RemoveUser user={data} />
      </ScreenHead>
      <UserForm key={guid} user={data} />
      <Stack gap="xl" mt="xl" maw={900}>
        <ApiKeys owner={guid} />
        {data.is_service ? null : <LinkedAccounts owner={guid} />}
        {data.is_service ? null : <Sessions owner={guid} />}
      </Stack>
    </>
  )
}

function About({ user }: { readonly user: User }) {
  const { _meta, last_activity, login_attempts = 0, locked_until } = user
  return (
    <Group component="span" gap="sm">
      {user.is_service ? <Badge color="petrol">{peopleTexts.serviceAccount}</Badge> : null}
      {isLocked(user) ? (
        <Badge color="red">
          {peopleTexts.lockedUntil} <Time at={locked_until} exact />
        </Badge>
      ) : null}
      {user.invited_until ? (
        <Badge color="sand">
          {peopleTexts.invitedUntil} <Time at={user.invited_until} exact />
        </Badge>
      ) : null}
      <span>
        {peopleTexts.created} <Time at={_meta.created} />
        {peopleTexts.lastActive} <Time at={last_activity} never={peopleTexts.never} />
        {peopleTexts.failedSignIns(login_attempts)}
      </span>
    </Group>
  )
}

async function unlock({ _meta, username }: User): Promise<void> {
  try {
    await call('POST', `/users/${_meta.guid}/reset-login-attempts`)
    notifyDone(peopleTexts.maySignInAgain(username))
    await forgetPeople()
  } catch (error) {
    notifyFailed(peopleTexts.couldNotBeUnlocked(username), error)
  }
}

function RemoveUser({ user }: { readonly user: User }) {
  const [, go] = useLocation()
  const ask = () =>
    confirm({
      title: peopleTexts.removeUserTitle(user.username),
      text: peopleTexts.removeUserText,
      action: peopleTexts.remove,
      run: async () => {
        await call('DELETE', `/users/${user._meta.guid}`)
        await forgetPeople()
        go('/people')
      },
    })
  return (
    <Button variant="default" leftSection={<Icon name="trash" size={16} />} onClick={ask}>
      {peopleTexts.remove}
    </Button>
  )
}

/** Of a user who has set no password yet: sends another link, or ends the links. */
function Invitation({ user }: { readonly user: User }) {
  if (!user.invited_until) return null
  return (
    <>
      <Button variant="default" onClick={() => void inviteAgain(user)}>
        {peopleTexts.inviteAgain}
      </Button>
      <Button variant="default" onClick={() => askToWithdraw(user)}>
        {peopleTexts.withdraw}
      </Button>
    </>
  )
}

async function inviteAgain({ _meta, email }: User): Promise<void> {
  try {
    await call('POST', `/users/${_meta.guid}/invitation`)
    notifyDone(peopleTexts.getsAMail(email))
    await forgetPeople()
  } catch (error) {
    notifyFailed(peopleTexts.invitationNotSent, error)
  }
}

function askToWithdraw({ _meta, username }: User): void {
  confirm({
    title: peopleTexts.withdrawTheInvitationOf(username),
    text: peopleTexts.withdrawText,
    action: peopleTexts.withdraw,
    run: async () => {
      await call('DELETE', `/users/${_meta.guid}/invitation`)
      await forgetPeople()
    },
  })
}
