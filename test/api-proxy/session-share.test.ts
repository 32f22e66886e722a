import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect } from 'chai';
import { RelayError } from '../../src/errors.ts';
import { shareBySession } from '../../src/routes/session-share.ts';

const response = () => new ServerResponse(new IncomingMessage(new Socket()));

describe('the share of a session', () => {
  it('is a number of requests in flight', () => {
    const take = shareBySession(2);
    const first = response();
    take({ res: first }, 'a');
    take({ res: response() }, 'a');
    expect(() => take({ res: response() }, 'a')).to.throw(RelayError, 'overloaded');
    take({ res: response() }, 'b');
    first.emit('close');
    take({ res: response() }, 'a');
    expect(() => take({ res: response() }, 'a')).to.throw(RelayError, 'overloaded');
  });

  it('is given back by each request once', () => {
    const take = shareBySession(1);
    for (let turn = 0; turn < 3; turn += 1) {
      const res = response();
      take({ res }, 'a');
      res.emit('close');
      res.emit('close');
    }
    take({ res: response() }, 'a');
    expect(() => take({ res: response() }, 'a')).to.throw(RelayError, 'overloaded');
  });
});
