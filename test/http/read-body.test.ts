import { readBody } from '../../src/http/body.ts';
import { RawConnection } from '../harness/client/raw-connection.ts';
import { outcomeOf } from '../harness/expect/failure-code.ts';
import { serve } from '../harness/provider/serve.ts';

describe('the body of a request', () => {
  it('has to come within its time, and its client gets an answer after that', async () => {
    const server = await serve(async (req, res) => {
      res.end(await outcomeOf(readBody({ req, res }, { requestBodySize: 16, requestBodyTime: 1 })));
    });
    const connection = await RawConnection.open(server.port);
    connection.say('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nb');
    await connection.hear('request_timeout');
    connection.say('ody');
    connection.close();
    await server.close();
  });
});
