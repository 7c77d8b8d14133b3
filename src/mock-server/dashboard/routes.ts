import * as actions from './actions.ts';
import { type AccountVisit, type Reply, redirect, type Visit } from './visit.ts';

interface DashboardRoute {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly answer: (visit: Visit) => Reply;
}

export const dashboardRoutes: readonly DashboardRoute[] = [
  { method: 'GET', path: '/dashboard', answer: actions.home },
  { method: 'POST', path: '/dashboard/sign-up', answer: actions.signUp },
  { method: 'POST', path: '/dashboard/sign-in', answer: actions.signIn },
  { method: 'POST', path: '/dashboard/sign-out', answer: actions.signOut },
  { method: 'GET', path: '/dashboard/confirm', answer: actions.confirm },
  { method: 'GET', path: '/dashboard/check-email', answer: signedIn(actions.checkMail) },
  { method: 'POST', path: '/dashboard/send-again', answer: signedIn(actions.sendAgain) },
  { method: 'POST', path: '/dashboard/keys', answer: signedIn(actions.createKey) },
  { method: 'GET', path: '/dashboard/keys/{id}', answer: signedIn(actions.showKey) },
  { method: 'POST', path: '/dashboard/keys/{id}/revoke', answer: signedIn(actions.revokeKey) },
  { method: 'POST', path: '/dashboard/plan', answer: signedIn(actions.changePlan) },
];

/** Visitors without an account are led to the sign-up. */
function signedIn(answer: (visit: AccountVisit) => Reply): (visit: Visit) => Reply {
  return (visit) => {
    const { account } = visit.session;
    return account === undefined ? redirect('/dashboard') : answer({ ...visit, account });
  };
}
