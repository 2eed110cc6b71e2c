import { Button } from '@mantine/core'
import type { User } from '../../../shared/api/people/users.ts'
import { forgetPeople } from '../../api/people.ts'
import { call } from '../../api/request.ts'
import { confirm } from '../../controls/confirm.ts'
import { notifyDone, notifyFailed } from '../../controls/notify.ts'
import { peopleTexts } from '../../texts/people.ts'

/** Of a user who has set no password yet: sends another link, or ends the links. */
export function Invitation({ user }: { readonly user: User }) {
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
